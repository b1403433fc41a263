import type { Gate } from './gate.ts';
import { whyNotAllowed } from './version-rules.ts';

/** The group's policy forbids the version: it is pinned to another, skips it, or it is a downgrade (DESIGN section 2b). */
export const versionNotAllowed: Gate = {
  code: 'VersionNotAllowed',
  at: ['start', 'activation', 'reboot'],
  endsAttempt: true,
  keepsSlot: false,
  ask: ({ node, group, version }) => {
    const running = node.attempt?.fromVersion ?? node.status?.currentVersion;
    if (version === null || running === undefined) return null;
    const why = whyNotAllowed(group.rollout.policy.version, version, running);
    return why === null
      ? null
      : {
          until: null,
          words: `Version ${version} is not taken: ${why}; it waits for another version or another policy`,
        };
  },
};
