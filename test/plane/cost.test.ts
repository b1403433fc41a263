/** The bill of a fleet at rest, from counted requests and units: a change that makes it dearer is seen here (docs/cost.md). */
import { expect, test } from 'vitest';
import { costLines } from '../../bench/rows/cost.ts';

test('1,000 nodes at rest cost no more a month than docs/cost.md says', async () => {
  const lines = await costLines();
  const usd = Object.fromEntries(lines.map((line) => [line.what, Math.round(line.usd * 100) / 100]));
  expect(usd).toEqual({
    'API Gateway': 2.16,
    'Lambda, requests': 0.43,
    'Lambda, time': 0.14,
    'DynamoDB, reads': 0.27,
    'DynamoDB, writes': 2.03,
    'DynamoDB, storage': 0,
    'access log': 0.3,
    sweep: 0.22,
  });
});
