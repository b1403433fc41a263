/** When something must be looked at again (DESIGN section 4). */
import { between, type Instant, minutes } from '../kit/time.ts';

/** An instant at which something falls due; a `retry` is a wait that somebody notices, and may also get the vernier. */
export type Alarm = { at: Instant; retry: boolean };

/** The longest that SQS delays a message (facts/kubevirt-crash-loops.md section 3.3). */
const VERNIER_MAX = minutes(15);

/** Whether a wait is also timed by a delayed message, because Scheduler fires up to a minute late. */
export const hasVernier = ({ at, retry }: Alarm, now: Instant): boolean => retry && between(now, at) <= VERNIER_MAX;
