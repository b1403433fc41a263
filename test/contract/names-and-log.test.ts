/** Ids that are parsed or refused, and the log of the last events that every record carries. */
import { describe, expect, test } from 'vitest';
import { EVENT_TYPES, eventId, EVENTS_KEPT, type Fact, logEvents, type LoggedEvent } from '../../core/decision/fact.ts';
import { DEFAULT_GROUP, parseGroupId, parseInstanceId, parseNodeId, parseVmId } from '../../core/kit/ids.ts';
import { at } from '../node/life.ts';

describe('ids', () => {
  test.each(['i-0123abcd', 'i-0123456789abcdef0', 'mi-0123456789abcdef0'])('%s is a node', (text) => {
    expect(parseNodeId(text)).toBe(text);
  });
  test.each([
    'i-0123abc',
    'i-0123abcde',
    'mi-0123abcd',
    'i-0123ABCD',
    'x-0123abcd',
    'i0123abcd',
    ' i-0123abcd',
    'i-0123abcd ',
    'xi-0123456789abcdef0',
    'mi-0123456789abcdef01',
    '',
  ])('%j is no node', (text) => {
    expect(parseNodeId(text)).toBeNull();
  });

  test.each([parseGroupId, parseVmId])(
    'a name has 1 to 63 characters and begins and ends with a letter or digit',
    (parse) => {
      for (const text of ['a', '0', 'Web', 'a.b_c-d', 'a'.repeat(63), DEFAULT_GROUP]) expect(parse(text)).toBe(text);
      for (const text of ['', '-a', 'a-', '.a', 'a.', 'a b', 'a:b', 'a/b', 'a'.repeat(64), ' a', 'a ', '_'])
        expect(parse(text)).toBeNull();
    },
  );

  test('an instance has 1 to 128 characters, colons too', () => {
    for (const text of ['a', 'web:1', 'a.b_c-d', 'a'.repeat(128)]) expect(parseInstanceId(text)).toBe(text);
    for (const text of ['', ':a', 'a:', 'a b', 'a/b', 'a'.repeat(129), ' a', 'a '])
      expect(parseInstanceId(text)).toBeNull();
  });

  test('the group that is there from the start is default', () => {
    expect(DEFAULT_GROUP).toBe('default');
  });
});

describe('the log', () => {
  const fact = (message: string): Fact => ({ kind: 'event', type: 'Node Held', severity: 'info', message });
  const messages = (log: readonly LoggedEvent[]): string[] => log.map(({ message }) => message);

  test('names each event by subject and revision, and those of one revision by their place', () => {
    expect(eventId('vm/web', 7, 0)).toBe('vm/web/7');
    expect(eventId('vm/web', 7, 1)).toBe('vm/web/7.1');
  });

  test('has the events among the facts, in order, behind those that were there', () => {
    const first = logEvents([], [fact('a'), { kind: 'fill', group: DEFAULT_GROUP }, fact('b')], 'vm/web', 1, at(3));
    expect(first).toEqual([
      { id: 'vm/web/1', at: at(3), type: 'Node Held', severity: 'info', message: 'a' },
      { id: 'vm/web/1.1', at: at(3), type: 'Node Held', severity: 'info', message: 'b' },
    ]);
    expect(messages(logEvents(first, [fact('c')], 'vm/web', 2, at(4)))).toEqual(['a', 'b', 'c']);
  });

  test('keeps the last 20', () => {
    const many = Array.from({ length: 25 }, (_, n) => fact(String(n)));
    const log = logEvents([], many, 'vm/web', 1, at(0));
    expect(log).toHaveLength(EVENTS_KEPT);
    expect(messages(log)).toEqual(Array.from({ length: 20 }, (_, n) => String(n + 5)));
  });

  test('knows these types of events, and each once', () => {
    expect(new Set(EVENT_TYPES).size).toBe(EVENT_TYPES.length);
    expect(
      EVENT_TYPES.every((type) => /^(?:Node|VM|Group|Recovery|Breaker|Window|Version) [A-Z][A-Za-z ]+$/.test(type)),
    ).toBe(true);
  });
});
