import { expect, test } from 'vitest';
import { enumerate } from './enumerate.ts';
import { UPDATES } from './stories/updates.ts';

test.each(UPDATES)('whoever dies at whichever external call: $name', { timeout: 300_000 }, async (story) => {
  const { paths, failures } = await enumerate(story);
  expect(failures).toEqual([]);
  expect(paths.length).toBeGreaterThan(10);
});
