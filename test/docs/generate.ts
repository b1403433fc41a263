/** `npm run docs`: writes the generated tables of docs/ anew, and says which pages changed. */
import { writeFileSync } from 'node:fs';
import { generatedPages, pathOf, readPage } from './pages.ts';

for (const page of generatedPages()) {
  const { now, wanted } = readPage(page);
  if (wanted !== now) writeFileSync(pathOf(page), wanted);
  console.log(`docs/${page.file}: ${wanted === now ? 'as it was' : 'written anew'}`);
}
