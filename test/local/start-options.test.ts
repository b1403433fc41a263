import { describe, expect, it } from 'vitest';
import { readStartOptions } from '../../local/demo/options.ts';

describe('the options of npm start', () => {
  it('are read', () => {
    expect(readStartOptions(['--data', '/data', '--port', '4700', '--no-demo'], {})).toMatchObject({
      data: '/data',
      port: '4700',
      'no-demo': true,
      fresh: false,
    });
  });

  it.each([
    [{ npm_config_fresh: 'true' }, 'npm start -- --fresh'],
    [{ npm_config_demo: '' }, 'npm start -- --no-demo'],
    [{ npm_config_data: 'true', npm_config_page_port: 'true' }, '--page-port and --data'],
  ])('that npm keeps for itself (%j) are not silently left out', (env, says) => {
    expect(readStartOptions([], env)).toMatchObject({ refused: expect.stringContaining(says) });
  });

  it.each([['--prot', '4700'], ['elsewhere'], ['--port']])('%s is refused in words', (...args) => {
    expect(readStartOptions(args, {})).toMatchObject({ refused: expect.stringMatching(/\S/) });
  });
});
