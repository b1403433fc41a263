/** Entry point of the agent: `holdoff-agent --help`. */
// @ts-nocheck

import { runAgent } from './agent.ts';
import { AgentError, messageOf } from './failure.ts';
import { createLog } from './log.ts';
import { helpText, readSettings } from './settings.ts';

async function main(): Promise<number> {
  const settings = readSettings(process.argv.slice(2), process.env);
  if (settings === 'help') {
    process.stdout.write(helpText());
    return 0;
  }
  const log = createLog((line) => process.stderr.write(line), settings.nodeId, Date.now);
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => ending.abort());
  await runAgent(settings, process.env, log, ending.signal);
  return 0;
}

/** 2: wrong settings; 1: anything else. */
async function exitCode(): Promise<number> {
  try {
    return await main();
  } catch (error) {
    const settings = error instanceof AgentError && error.code === 'Settings';
    process.stderr.write(`holdoff-agent: ${messageOf(error)}\n`);
    return settings ? 2 : 1;
  }
}

process.exit(await exitCode());
