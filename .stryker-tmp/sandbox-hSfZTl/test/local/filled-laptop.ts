// @ts-nocheck
import { fillLaptop, startLaptop } from './laptop.ts';

// A process to be killed: fills a laptop, says so, and waits for the end.
const aws = await startLaptop(process.argv[2] ?? '');
await fillLaptop(aws);
process.stdout.write('filled\n');
