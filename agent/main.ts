/** Entry point of the agent: `holdoff-agent --help`. */
import { runAgent } from './agent.ts';
import { AgentError, messageOf } from './failure.ts';
import { findIdentity } from './identity.ts';
import { createLog } from './log.ts';
import { helpText, readSettings } from './settings.ts';

async function main(): Promise<number> {
  const settings = readSettings(process.argv.slice(2), process.env);
  if (settings === 'help') {
    process.stdout.write(helpText());
    return 0;
  }
  const identity = await findIdentity(settings, process.env, settings.ssmRegistration, settings.requestTimeoutMs);
  const log = createLog((line) => process.stderr.write(line), identity.nodeId, Date.now);
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => ending.abort());
  await runAgent({ ...settings, ...identity }, process.env, log, ending.signal);
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
