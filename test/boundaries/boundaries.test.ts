import { expect, test } from 'vitest';
import { enumerate } from './enumerate.ts';
import { UPDATES } from './stories/updates.ts';

test.each(UPDATES)('$name', { timeout: 100_000 }, async (story) => {
  const t = performance.now();
  const { paths, failures, told } = await enumerate(story);
  console.log(story.name, paths.length, told, paths.reduce((n, p) => n + p.kills, 0), Math.round(performance.now() - t));
  expect(failures.slice(0, 10)).toEqual([]);
});
