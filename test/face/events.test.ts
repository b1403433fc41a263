import { describe, expect, it } from 'vitest';
import { eventLine, eventRows, eventsByAge, eventTable } from '../../present/events.ts';
import type { Surface } from '../../present/table.ts';
import { event, NODE_A, NOW } from './fleet.ts';

const screen = (width: number): Surface => ({ width, colour: false, now: NOW, fit: 'wrap' });

describe('events', () => {
  const events = [
    event(),
    event({
      id: 'node/a/2',
      at: '2026-01-05T00:09:00.000Z',
      type: 'Node Updated',
      severity: 'info',
      subject: NODE_A,
      message: 'Now 1.21.0.',
    }),
  ];

  it('read as a log, oldest first, a warning marked without colour too', () => {
    expect(`\n${eventTable(eventsByAge(events), screen(110))}\n`).toMatchInlineSnapshot(`
      "
      WHEN         EVENT             ABOUT                MESSAGE
      60 s ago     Node Updated      i-0000000000000000a  Now 1.21.0.
      10 s ago  !  VM Start Delayed  web                  The next start waits for 30 s.
      "
    `);
  });

  it('are single lines where a log grows', () => {
    expect(eventLine(event(), screen(60))).toBe('00:09:50Z ! VM Start Delayed  web  The next start waits for…');
  });

  it('are tab-separated in a pipe', () => {
    expect(eventRows([event()])).toBe(
      '2026-01-05T00:09:50.000Z\twarning\tVM Start Delayed\tweb\tThe next start waits for 30 s.\tvm/web/4',
    );
  });
});
