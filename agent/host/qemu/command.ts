/** The command line of a QEMU guest: what the agent adds to a launch definition's arguments. Pure. */

/** QEMU's control socket, in the run folder of its instance, which is also its working directory. */
export const QMP_SOCKET = 'qmp.sock';
/** The pipes of its wrapper: `ctl.in` and `ctl.out` (qemu-system(1), -chardev pipe). */
const WRAPPER_PIPE = 'ctl';

const QMP_ID = 'holdoff-qmp';
const WRAPPER_ID = 'holdoff-wrapper';

/**
 * The whole command, to be run in the instance's run folder. A guest that has shut down, panicked or been bitten by its
 * watchdog stays there, stopped, until the agent has seen it: also when there is no agent at that moment, nothing of its
 * end is lost (qemu-system(1), -action). Its wrapper has a control connection of its own. Its first serial port is its
 * console.
 */
export function qemuCommand(program: string, args: readonly string[]): string[] {
  const has = (...options: string[]): boolean => args.some((arg) => options.includes(arg.replace(/^--?/, '-')));
  const ours = [
    ...(has('-nographic', '-display') ? [] : ['-display none']),
    ...(has('-nographic', '-serial') ? [] : ['-serial stdio']),
    '-monitor none',
    `-chardev socket,id=${QMP_ID},path=${QMP_SOCKET},server=on,wait=off`,
    `-mon chardev=${QMP_ID},mode=control`,
    `-chardev pipe,id=${WRAPPER_ID},path=${WRAPPER_PIPE}`,
    `-mon chardev=${WRAPPER_ID},mode=control`,
    '-action shutdown=pause,panic=pause,watchdog=pause',
  ];
  return [program, ...args, ...ours.flatMap((option) => option.split(' '))];
}
