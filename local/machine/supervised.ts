/** In a process that `supervise` started: calls `end` when its supervisor is gone, however that ended. */
export function onSupervisorGone(end: () => void): void {
  // Undefined where no supervisor started it, by hand or in a test.
  if (process.connected === undefined) return;
  if (process.connected) process.once('disconnect', end);
  else end();
}
