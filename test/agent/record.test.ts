import { describe, expect, test } from 'vitest';
import { newRecord, newStep, parseMemory } from '../../agent/node/memory.ts';
import { standingOf } from '../../agent/node/reporter.ts';
import { parseUpdateStatus } from '../../agent/updater/update-status.ts';

const idle = newRecord(1);
const staging = {
  ...newRecord(5),
  step: { ...newStep('StagedUpdate', 1), pending: { name: 'prepare', before: 't0', at: 1, issued: 1 } },
};

describe('the record on disk', () => {
  test('survives being written and read', () => {
    const record = staging;
    expect(parseMemory(JSON.stringify(record), true)).toEqual({ kind: 'kept', record });
  });
  test.each([
    ['half a file', '{"format":1,', true, 'lost'],
    ['an empty file', '', true, 'lost'],
    ['a newer format', JSON.stringify({ ...idle, format: 3 }), true, 'lost'],
    ['the format before this one', JSON.stringify({ ...idle, format: 1 }), true, 'kept'],
    ['no file where there was one', null, true, 'lost'],
    ['no file on a new node', null, false, 'fresh'],
  ])('%s', (_what, text, known, kind) => {
    expect(parseMemory(text, known).kind).toBe(kind);
  });
  test('a lost record is reported without a generation', () => {
    expect(standingOf({ kind: 'lost', why: 'gone' })).toEqual({
      state: 'ErrorReset',
      error: { reason: 'StateLost', message: 'gone' },
    });
  });
});

describe('the status document is read tolerantly', () => {
  const document = {
    update_state: 'Staged',
    chosen_update: { version: '1.21.1' },
    staging_partition: { image: { version: '1.21.0' }, next_to_boot: false },
    most_recent_command: {
      cmd_type: 'refresh',
      cmd_status: 'Failed',
      timestamp: 't',
      exit_status: null,
      stderr: '\u001b[31mno route\u001b[0m\n',
    },
  };
  test('colours go, nulls stay nulls', () => {
    expect(parseUpdateStatus(JSON.stringify(document))).toMatchObject({
      status: { chosen: '1.21.1', staging: { version: '1.21.0', nextToBoot: false }, last: { detail: 'no route' } },
    });
  });
  test.each([
    ['only the state', { update_state: 'Idle' }, 'status'],
    [
      'a command we do not know',
      { ...document, most_recent_command: { cmd_type: 'deactivate', cmd_status: 'Unknown', timestamp: 't' } },
      'status',
    ],
    ['a state we do not know', { ...document, update_state: 'Baking' }, 'unparseable'],
    ['not even an object', [], 'unparseable'],
  ])('%s', (_what, body, kind) => {
    expect(parseUpdateStatus(JSON.stringify(body)).kind).toBe(kind);
  });
  test('half a document keeps its raw text', () => {
    expect(parseUpdateStatus('{"update_state"')).toMatchObject({
      kind: 'unparseable',
      message: expect.stringContaining('{"update_state"'),
    });
  });
});
