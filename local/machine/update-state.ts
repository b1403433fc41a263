/** The node's update state machine, to the letter of what Bottlerocket serves. Pure; the clock and faults come in. */

export type Image = { arch: string; version: string; variant: string };
export type Partition = { image: Image; next_to_boot: boolean };
export type CommandName = 'refresh' | 'prepare' | 'activate' | 'deactivate';
export type UpdateState = 'Idle' | 'Available' | 'Staged' | 'Ready';

/** The body of GET /updates/status. */
export type UpdateStatus = {
  update_state: UpdateState;
  available_updates: string[];
  chosen_update: Image | null;
  active_partition: Partition | null;
  staging_partition: Partition | null;
  most_recent_command: {
    cmd_type: CommandName;
    cmd_status: 'Success' | 'Failed' | 'Unknown';
    timestamp: string;
    exit_status: number | null;
    stderr: string | null;
  } | null;
};

/** What is on the disk, and so survives power cuts: two sets of partitions, and which one boots next. */
export type Disk = {
  active: string;
  /** The inactive set's version; null once prepare has cleared it. */
  inactive: string | null;
  /** The inactive set has the one boot try that prepare's upgrade gives it. */
  nextBootInactive: boolean;
  /** settings.updates.version-lock. */
  versionLock: string;
};

export const imageOf = (version: string): Image => ({ arch: 'x86_64', version, variant: 'aws-ecs-2' });

/** What the API knows before the first command since boot: nothing, and its status answers 404. */
export const afterBoot = (disk: Disk): UpdateStatus => ({
  update_state: 'Idle',
  available_updates: [],
  chosen_update: null,
  active_partition: { image: imageOf(disk.active), next_to_boot: !disk.nextBootInactive },
  staging_partition: null,
  most_recent_command: null,
});

export type Refusal = { status: 404 | 409; text: string };

/** Whether a command may begin in this state; the refusals of the real helper: the state is judged before all else. */
export function refusalOf(command: CommandName, status: UpdateStatus): Refusal | null {
  const wrongState: Refusal = {
    status: 409,
    text: `Action not allowed according to update state, state: ${status.update_state}`,
  };
  switch (command) {
    case 'refresh':
      return null;
    case 'prepare':
      if (status.update_state !== 'Available' && status.update_state !== 'Staged') return wrongState;
      if (status.chosen_update !== null) return null;
      return { status: 404, text: 'Update not found: no update has been chosen' };
    case 'activate':
    case 'deactivate':
      if (status.update_state !== (command === 'activate' ? 'Staged' : 'Ready')) return wrongState;
      return status.staging_partition === null
        ? { status: 404, text: 'No update image in the staging partition' }
        : null;
  }
}

export type Ended = { status: UpdateStatus; disk: Disk };
export type Ending = {
  /** The version the repository offers this node; null when there is none. */
  readonly offered: string | null;
  readonly fails: boolean;
  /** What prepare writes where it chooses anew; null for what had been chosen. */
  readonly written: string | null;
  readonly timestamp: string;
};

/** What the end of a command leaves behind. */
export function endCommand(command: CommandName, before: UpdateStatus, disk: Disk, ending: Ending): Ended {
  const status: UpdateStatus = {
    ...before,
    most_recent_command: {
      cmd_type: command,
      cmd_status: ending.fails ? 'Failed' : 'Success',
      timestamp: ending.timestamp,
      exit_status: ending.fails ? 1 : 0,
      stderr: ending.fails ? `\u001b[31mFailed to ${command} the update: injected fault\u001b[0m` : '',
    },
  };
  return ending.fails ? endBadly(command, status, disk) : endWell(command, status, disk, ending);
}

function endBadly(command: CommandName, status: UpdateStatus, disk: Disk): Ended {
  switch (command) {
    case 'refresh':
      // A failed refresh looks like "no update", and the old choice stays.
      return { status: staged(status) ? status : { ...status, update_state: 'Idle' }, disk };
    case 'prepare':
      return { status, disk: { ...disk, inactive: null, nextBootInactive: false } };
    case 'activate':
    case 'deactivate':
      return { status, disk };
  }
}

function endWell(command: CommandName, status: UpdateStatus, disk: Disk, { offered, written }: Ending): Ended {
  switch (command) {
    case 'refresh': {
      const chosen = offered === null || offered === disk.active ? null : imageOf(offered);
      const refreshed = { ...status, chosen_update: chosen, available_updates: offered === null ? [] : [offered] };
      if (staged(status)) return { status: refreshed, disk };
      return { status: { ...refreshed, update_state: chosen === null ? 'Idle' : 'Available' }, disk };
    }
    case 'prepare': {
      const { chosen_update: image } = status;
      // Refused before it began when nothing is chosen.
      if (image === null) return { status, disk };
      return {
        status: { ...status, update_state: 'Staged', staging_partition: { image, next_to_boot: false } },
        disk: { ...disk, inactive: written ?? image.version, nextBootInactive: false },
      };
    }
    case 'activate':
      return { status: flip(status, true), disk: { ...disk, nextBootInactive: true } };
    case 'deactivate':
      return { status: flip(status, false), disk: { ...disk, nextBootInactive: false } };
  }
}

const staged = ({ update_state: state }: UpdateStatus): boolean => state === 'Staged' || state === 'Ready';

const flip = (status: UpdateStatus, ready: boolean): UpdateStatus => ({
  ...status,
  update_state: ready ? 'Ready' : 'Staged',
  active_partition: status.active_partition === null ? null : { ...status.active_partition, next_to_boot: !ready },
  staging_partition: status.staging_partition === null ? null : { ...status.staging_partition, next_to_boot: ready },
});

/** Which set comes up: the one marked, unless its single try fails; then the old one, and the try is used up. */
export function bootDisk(disk: Disk, bootsBack: boolean): Disk {
  if (!disk.nextBootInactive || disk.inactive === null) return { ...disk, nextBootInactive: false };
  if (bootsBack) return { ...disk, nextBootInactive: false };
  return { ...disk, active: disk.inactive, inactive: disk.active, nextBootInactive: false };
}
