import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/commands/all.ts';
import { EXIT } from '../../cli/errors.ts';
import { parseCommandLine, type Parsed } from '../../cli/parse.ts';
import { seconds } from '../../core/kit/time.ts';
import { NODE_A } from './fleet.ts';

function parse(line: string): Parsed & { out: string; err: string } {
  let out = '';
  let err = '';
  const parsed = parseCommandLine(
    line.split(' ').filter((word) => word !== ''),
    COMMANDS,
    {
      out: (text) => void (out += text),
      err: (text) => void (err += text),
      width: 100,
    },
  );
  return { ...parsed, out, err };
}

describe('a command line that is understood', () => {
  it.each<[line: string, name: string, subject: string | undefined, options: object]>([
    ['nodes', 'nodes', undefined, {}],
    ['nodes list', 'nodes', undefined, {}],
    ['nodes --group canary --limit 5', 'nodes', undefined, { group: 'canary', limit: 5 }],
    ['nodes --watch', 'nodes', undefined, { watch: true }],
    [`nodes show ${NODE_A}`, 'nodes show', NODE_A, {}],
    [`nodes events ${NODE_A} --limit 3`, 'nodes events', NODE_A, { limit: 3 }],
    [`nodes retry ${NODE_A}`, 'nodes retry', NODE_A, {}],
    [`nodes hold ${NODE_A}`, 'nodes hold', NODE_A, {}],
    [`nodes release ${NODE_A}`, 'nodes release', NODE_A, {}],
    [`nodes fence ${NODE_A}`, 'nodes fence', NODE_A, {}],
    [`nodes move ${NODE_A} --group canary`, 'nodes move', NODE_A, { group: 'canary' }],
    [`nodes delete ${NODE_A}`, 'nodes delete', NODE_A, {}],
    ['vms', 'vms', undefined, {}],
    ['vms --watch', 'vms', undefined, { watch: true }],
    ['vms show web', 'vms show', 'web', {}],
    ['vms events web --follow', 'vms events', 'web', { follow: true }],
    ['vms put web --file web.json', 'vms put', 'web', { file: 'web.json' }],
    ['vms put web --file -', 'vms put', 'web', { file: '-' }],
    ['vms stop web', 'vms stop', 'web', {}],
    ['vms stop web --grace 30s', 'vms stop', 'web', { grace: '30s' }],
    ['vms start web', 'vms start', 'web', {}],
    ['vms restart web', 'vms restart', 'web', {}],
    ['vms delete web --force', 'vms delete', 'web', { force: true }],
    ['groups', 'groups', undefined, {}],
    ['groups show canary', 'groups show', 'canary', {}],
    ['groups put canary --file -', 'groups put', 'canary', { file: '-' }],
    ['groups delete canary', 'groups delete', 'canary', {}],
    ['groups pause canary', 'groups pause', 'canary', {}],
    ['groups resume canary', 'groups resume', 'canary', {}],
    ['events', 'events', undefined, {}],
    ['events --limit 20 --follow', 'events', undefined, { limit: 20, follow: true }],
    ['events --all', 'events', undefined, { all: true }],
    ['summary', 'summary', undefined, {}],
    ['recover --yes', 'recover', undefined, { yes: true }],
    ['recover --yes --force', 'recover', undefined, { yes: true, force: true }],
    ['openapi', 'openapi', undefined, {}],
  ])('%s', (line, name, subject, options) => {
    const parsed = parse(line);
    expect(parsed.err).toBe('');
    if (parsed.kind !== 'run') throw new Error('not understood');
    expect(parsed.invocation.name).toBe(name);
    expect(parsed.invocation.subject?.id).toBe(subject);
    expect(parsed.invocation.options).toEqual(options);
  });

  it.each([
    '--json --endpoint https://api.example --region eu-west-1 --profile ops --timeout 3s nodes',
    'nodes --json --endpoint https://api.example --region eu-west-1 --profile ops --timeout 3s',
  ])('takes the global options before and behind the command: %s', (line) => {
    const parsed = parse(line);
    expect(parsed).toMatchObject({
      kind: 'run',
      global: { json: true, endpoint: 'https://api.example', region: 'eu-west-1', profile: 'ops', timeout: seconds(3) },
    });
  });

  it('waits for an answer for 15 s and prints no JSON unless asked to', () => {
    expect(parse('summary')).toMatchObject({ kind: 'run', global: { json: false, timeout: seconds(15) } });
  });
});

describe('a command line that is refused exits with 2 and says what was wrong', () => {
  it.each<[line: string, message: string]>([
    ['', 'Usage: holdoff'],
    ['nodse', "unknown command 'nodse'"],
    ['nodse', 'Did you mean nodes?'],
    ['nodes shwo', "there is no command 'nodes shwo'"],
    [`nodes ${NODE_A}`, `Did you mean \`holdoff nodes show ${NODE_A}\`?`],
    ['vms sotp web', 'See `holdoff vms --help`.'],
    ['nodes show', "missing required argument 'id'"],
    ['nodes show web', 'A node id is i- with 8 or 17 hexadecimal digits'],
    ['nodes delete ..', 'A node id is'],
    ['vms delete ..', 'A VM id is 1 to 63 letters'],
    ['vms show a/b', 'A VM id is'],
    ['groups show -x', "unknown option '-x'"],
    [`nodes move ${NODE_A}`, "required option '--group <group>' not specified"],
    ['vms put web', "required option '--file <file>' not specified"],
    ['vms stop web --grace soon', 'A duration is a number with s, m, h or d'],
    ['events --limit 0', 'It must be a whole number from 1'],
    ['events --limit 5 --all', "option '--limit <N>' cannot be used with option '--all'"],
    ['summary --timeout 0s', 'A duration is'],
    ['vms show web extra', 'too many arguments'],
    ['nodes --colour', "unknown option '--colour'"],
  ])('%s', (line, message) => {
    const parsed = parse(line);
    expect(parsed).toMatchObject({ kind: 'done', exitCode: EXIT.usage });
    expect(parsed.err).toContain(message);
    expect(parsed.out).toBe('');
  });
});

describe('help', () => {
  it.each(['--help', 'help', 'nodes --help', 'vms --help', 'groups --help', 'events --help', 'vms stop --help'])(
    '%s exits with 0, and lists the exit codes',
    (line) => {
      const parsed = parse(line);
      expect(parsed).toMatchObject({ kind: 'done', exitCode: EXIT.ok });
      for (const code of Object.values(EXIT)) expect(parsed.out).toMatch(new RegExp(`^ {2}${code}\\b`, 'm'));
    },
  );

  it.each(['--help', 'nodes --help', 'vms --help', 'groups --help', 'events --help'])('%s has examples', (line) => {
    expect(parse(line).out).toContain('Examples:\n  ');
  });

  it('--version names the API version', () => {
    expect(parse('--version')).toMatchObject({ kind: 'done', exitCode: EXIT.ok, out: 'holdoff, API 1.0\n' });
  });
});
