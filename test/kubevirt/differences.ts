/** The rows of KubeVirt's tables where DESIGN section 3 differs on purpose; docs/kubevirt-differences.md gives the same list. */
export type Difference = {
  row: string;
  reason: string;
};

export const DIFFERENCES: readonly Difference[] = [
  {
    row: 'backoff-delay/cases/failure 6, cap 300 s',
    reason:
      "Jitter that is cut at the cap is no jitter (DESIGN section 3 rule 1, the reviewer's point): where the base alone reaches the cap the delay is drawn between two thirds of it and the cap.",
  },
  {
    row: 'backoff-delay/derived/failure 7, cap 300 s',
    reason:
      "Jitter that is cut at the cap is no jitter (DESIGN section 3 rule 1, the reviewer's point): where the base alone reaches the cap the delay is drawn between two thirds of it and the cap.",
  },
  {
    row: 'backoff-delay/derived/failure 1000, cap 300 s',
    reason:
      "Jitter that is cut at the cap is no jitter (DESIGN section 3 rule 1, the reviewer's point): where the base alone reaches the cap the delay is drawn between two thirds of it and the cap.",
  },
  {
    row: 'backoff-delay/derived/failure 1, cap 600 s',
    reason: 'The base of a preset is 10 s whatever the cap is; a higher cap does not make the first wait longer.',
  },
  {
    row: 'backoff-delay/derived/failure 3, cap 60 s',
    reason:
      "Jitter that is cut at the cap is no jitter (DESIGN section 3 rule 1, the reviewer's point): where the base alone reaches the cap the delay is drawn between two thirds of it and the cap.",
  },
  {
    row: 'backoff-delay/derived/failure 1, cap 5 s',
    reason: 'At a cap below the base the delay is still spread, between two thirds of the cap and the cap.',
  },
  {
    row: 'backoff-time-left/derived/record present but retry time missing',
    reason:
      "A planned start always has an instant: the record's type has no such case, and the wait is read from the plan, not from the failure record.",
  },
  {
    row: 'start-failure-counting/cases/strategy Once keeps counting, instance kept, nothing restarted',
    reason:
      'Only Always and RerunOnFailure keep failure records (rule 1); a Once that failed stays Failed and nothing is retried.',
  },
  {
    row: 'start-failure-counting/derived/user stop while still starting is counted as a failure',
    reason: 'An end that somebody asked for never counts (rule 4); the peer records a deliberate stop as a crash.',
  },
  {
    row: 'printable-status/cases/Always, instance Succeeded after Running',
    reason:
      'Between two lives of a VM that is certain to be restarted we say so: the run was unstable, the retry is planned, and the status is CrashLoopBackOff (rules 2 and 3).',
  },
  {
    row: 'printable-status/cases/Always, instance Failed after Running',
    reason:
      'Between two lives of a VM that is certain to be restarted we say so: the run was unstable, the retry is planned, and the status is CrashLoopBackOff (rules 2 and 3).',
  },
  {
    row: 'printable-status/derived/Once, early failure: shows a back-off that never ends',
    reason: 'CrashLoopBackOff is shown only while a retry is really planned (rule 3); this one is Failed.',
  },
  {
    row: 'printable-status/derived/RerunOnFailure, Succeeded without having been Running',
    reason:
      'A RerunOnFailure that ends Succeeded stays Stopped and counts nothing (table of section 3); CrashLoopBackOff is shown only while a retry is really planned.',
  },
  {
    row: 'printable-status/derived/RerunOnFailure stopped while starting, instance gone',
    reason: 'CrashLoopBackOff is shown only while a retry is really planned (rule 3); a stopped VM is Stopped.',
  },
  {
    row: 'printable-status/derived/Always, instance creation refused by the platform (quota, admission)',
    reason: 'A refused launch counts, with its reason (rule 5), so the back-off is shown.',
  },
  {
    row: 'printable-status/derived/Always, between two lives of a VM that dies after Running',
    reason:
      'A restart is certain, so it does not flash Stopped: an unstable run is counted and its back-off shown (rules 2 and 3).',
  },
  {
    row: 'run-strategy/other/Manual start while disks are not ready stays queued',
    reason: "Disks are the host's: there is no readiness of disks that a start could wait for.",
  },
  {
    row: 'run-strategy/endToEnd/Always: API stop while running',
    reason:
      'stop is a power intent and leaves the run strategy as it was declared (table of section 3: stays off, strategy kept).',
  },
  {
    row: 'api-start/cases/strategy Always, instance null',
    reason:
      'Verbs are idempotent and start is 202 under Always (table of section 3): it starts a stopped VM, and a running one stays the one instance.',
  },
  {
    row: 'api-start/cases/strategy Always, instance Running',
    reason:
      'Verbs are idempotent and start is 202 under Always (table of section 3): it starts a stopped VM, and a running one stays the one instance.',
  },
  {
    row: 'api-start/cases/strategy Once, instance null',
    reason:
      'Once takes its first start and one after an explicit stop (table of section 3); only a start after its run is 409.',
  },
  {
    row: 'api-start/cases/strategy RerunOnFailure, instance Failed',
    reason: 'start during back-off tries now (rule 4).',
  },
  {
    row: 'api-start/cases/strategy Halted, instance unset phase, paused true',
    reason:
      "Halted never runs: start is 409 and says what to change, it does not change the strategy behind the operator's back.",
  },
  {
    row: 'api-start/cases/strategy any, recoveryRequiredAfterVolumeMigration true',
    reason: "Volumes and their migration are the host's; there is no such state.",
  },
  {
    row: 'api-start/queueRules/queued Stop, new Start',
    reason: 'Verbs set an intent and are idempotent; a race never answers 500 (rule 4): start after stop is taken.',
  },
  {
    row: 'api-stop/noInstance/strategy RerunOnFailure',
    reason:
      "stop works in every state, under every strategy, with or without an instance (rule 4; the seed's own release allowed it and later releases took it back).",
  },
  {
    row: 'api-stop/noInstance/strategy Manual',
    reason:
      "stop works in every state, under every strategy, with or without an instance (rule 4); the seed's own release refused it here.",
  },
  {
    row: 'api-stop/noInstance/strategy Halted',
    reason:
      "stop works in every state, under every strategy, with or without an instance (rule 4); the seed's own release refused it here.",
  },
  {
    row: 'api-stop/haltedWithLiveInstance/instanceGraceSeconds 1800, requestGraceSeconds null',
    reason:
      'stop works twice (rule 4): one with a longer grace changes nothing and is no conflict, the shortest grace given holds.',
  },
  {
    row: 'api-stop/haltedWithLiveInstance/instanceGraceSeconds 1800, requestGraceSeconds 1800',
    reason:
      'stop works twice (rule 4): one with a longer grace changes nothing and is no conflict, the shortest grace given holds.',
  },
  {
    row: 'api-stop/haltedWithLiveInstance/instanceGraceSeconds 1800, requestGraceSeconds 2400',
    reason:
      'stop works twice (rule 4): one with a longer grace changes nothing and is no conflict, the shortest grace given holds.',
  },
  {
    row: 'api-stop/other/strategy Halted, instance Unknown',
    reason: 'stop works in every state (rule 4), also while nothing is known of the instance.',
  },
  {
    row: 'api-restart/cases/strategy Always, instance null',
    reason:
      'restart of a VM without an instance starts it (table of section 3: 202); the intent is clear and needs no second call.',
  },
  {
    row: 'api-restart/cases/strategy Manual, instance null',
    reason:
      'restart of a VM without an instance starts it (table of section 3: 202); the intent is clear and needs no second call.',
  },
  {
    row: 'api-restart/cases/strategy RerunOnFailure, instance null',
    reason:
      'restart of a VM without an instance starts it (table of section 3: 202); the intent is clear and needs no second call.',
  },
  {
    row: 'api-restart/cases/strategy Always, instance Running, volumeMigrationRunning true',
    reason: "Volumes and their migration are the host's; there is no such state.",
  },
  {
    row: 'api-restart/force/requestGraceSeconds 0, instanceGraceSeconds 600',
    reason:
      "restart takes no body: the grace is the VM's own, and a faster end is asked of stop; a body that names one is 400.",
  },
  {
    row: 'api-restart/force/requestGraceSeconds 0, instanceGraceSeconds null',
    reason:
      "restart takes no body: the grace is the VM's own, and a faster end is asked of stop; a body that names one is 400.",
  },
  {
    row: 'api-restart/force/requestGraceSeconds 0, dryRun true',
    reason:
      "restart takes no body: the grace is the VM's own, and a faster end is asked of stop; a body that names one is 400.",
  },
  {
    row: 'api-restart/force/requestGraceSeconds 0, graceUpdateFails true',
    reason:
      "restart takes no body: the grace is the VM's own, and a faster end is asked of stop; a body that names one is 400.",
  },
  {
    row: 'api-restart/force/requestGraceSeconds 0, queueUpdateFails true',
    reason:
      "restart takes no body: the grace is the VM's own, and a faster end is asked of stop; a body that names one is 400.",
  },
  {
    row: 'api-restart/queueRules/queued Start, new Stop+Start',
    reason: 'Verbs set an intent and are idempotent; a race never answers 500 (rule 4): restart after start is taken.',
  },
];
