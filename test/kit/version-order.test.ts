/** Which of two OS versions is the older one (scenario 20). */
import { describe, expect, test } from 'vitest';
import { compareVersions } from '../../core/kit/version-order.ts';

describe('the first is older than the second, and the second newer than the first', () => {
  test.each([
    ['by the last number', '1.20.4', '1.20.5'],
    ['by the first', '1.99.99', '2.0.0'],
    ['as a number, not as a word', '1.9.0', '1.10.0'],
    ['beyond what a number of JavaScript holds', '1.0.9007199254740992', '1.0.9007199254740993'],
    ['with a v', 'v1.20.4', '1.20.5'],
    ['with fewer numbers', '1.20', '1.20.1'],
    ['with one number alone', '39', '40'],
    ['written as a date', '2024.9.3', '2024.10.1'],
    ['a pre-release before its release', '1.21.0-rc1', '1.21.0'],
    ['a pre-release after the release before', '1.20.5', '1.21.0-rc1'],
    ['of pre-releases by number', '1.21.0-rc.9', '1.21.0-rc.10'],
    ['of pre-releases as a number, not as a word', '1.21.0-rc.20', '1.21.0-rc.100'],
    ['of pre-releases that are words with a number in them', '1.21.0-rc1', '1.21.0-rc2'],
    ['of pre-releases that are words beginning with a number', '1.21.0-1a', '1.21.0-1b'],
    ['a number before a word, whatever its first letter', '1.21.0-1', '1.21.0--a'],
    ['by word', '1.21.0-alpha', '1.21.0-beta'],
    ['a number before a word', '1.21.0-1', '1.21.0-rc'],
    ['the one with fewer parts', '1.21.0-rc', '1.21.0-rc.1'],
  ])('%s', (_what, first, second) => {
    expect([compareVersions(first, second), compareVersions(second, first)]).toEqual([-1, 1]);
  });
});

describe('neither is older', () => {
  test.each([
    ['the same', '1.20.5', '1.20.5'],
    ['the same with a v', 'v1.20.5', '1.20.5'],
    ['the same with a number left out', '1.20', '1.20.0'],
    ['the same pre-release', '1.21.0-rc.1', '1.21.0-rc.1'],
    ['the same but for the build', '1.20.5+a1b2', '1.20.5+c3d4'],
  ])('%s', (_what, first, second) => {
    expect([compareVersions(first, second), compareVersions(second, first)]).toEqual([0, 0]);
  });
});

describe('what has another form cannot be compared', () => {
  test.each(['', 'unknown', 'latest', 'vv1.0', '1..0', '.1', '1.0.', '1.0-', '1.0-rc.', '1.x', '-1.0', '1.0 ', 'V1.0'])(
    '%j',
    (odd) => {
      expect([compareVersions(odd, '1.0.0'), compareVersions('1.0.0', odd), compareVersions(odd, odd)]).toEqual([
        null,
        null,
        null,
      ]);
    },
  );
});
