/** Runs the control plane until it is told to end; says on standard output where it is. */
import { onSupervisorGone } from './machine/supervised.ts';
import { startControlPlane, USUAL_PORT } from './control-plane.ts';

const text = (name: string): string | undefined => process.env[name];

const running = await startControlPlane({
  dataDir: text('HOLDOFF_DATA') ?? '.holdoff',
  port: Number(text('HOLDOFF_PORT') ?? USUAL_PORT),
  sweepSeconds: Number(text('HOLDOFF_SWEEP_SECONDS') ?? 30),
  faults: { ssm: { loseOneIn: Number(text('HOLDOFF_LOSE_WAKES') ?? 0) } },
});
process.stdout.write(`${JSON.stringify({ ready: true, endpoint: running.aws.apiUrl })}\n`);

let ending = false;
const end = (): void => {
  if (ending) return;
  ending = true;
  void running.close().finally(() => process.exit(0));
};
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
onSupervisorGone(end);
