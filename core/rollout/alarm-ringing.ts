import type { Gate } from './gate.ts';

/** A CloudWatch alarm that the group listens to is in ALARM (DESIGN section 2b, Alarms). */
export const alarmRinging: Gate = {
  code: 'AlarmRinging',
  at: ['start', 'activation', 'reboot'],
  endsAttempt: false,
  keepsSlot: true,
  ask: ({ group: { rollout } }) => {
    const { ringing } = rollout;
    if (ringing.length === 0) return null;
    const which = ringing.length === 1 ? 'Alarm' : 'Alarms';
    return {
      until: null,
      words: `${which} ${ringing.join(', ')} ${ringing.length === 1 ? 'rings' : 'ring'} in CloudWatch, and its group halts until ${ringing.length === 1 ? 'it is' : 'they are'} OK (haltOnAlarm)`,
    };
  },
};
