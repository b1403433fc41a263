/** The timeline drawn: bars to scale, a mark for each event, a line for now, and the next attempt counting down. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { hours, minutes, between, sayDuration, type Instant } from '../core/kit/time.ts';
import type { EventEntry } from '../core/contract/answers.ts';
import { now } from './live.ts';
import { axisOf, shareOf, timelineOf, type SpanKind, type Timeline } from './timeline.ts';

const SPANS: readonly { readonly name: string; readonly within: number | null }[] = [
  { name: 'all', within: null },
  { name: 'last hour', within: hours(1) },
  { name: 'last 10 min', within: minutes(10) },
];
const SAID: Readonly<Record<SpanKind, string>> = {
  attempt: 'attempt',
  running: 'running',
  waiting: 'waiting for the next attempt',
  settled: 'nothing under way',
};
const HEIGHT = 74;
const BAR = { y: 22, height: 16 } as const;

type TimelineProps = { readonly events: readonly EventEntry[]; readonly next: string | null };

export function TimelineView({ events, next }: TimelineProps): JSX.Element | null {
  const [chosen, choose] = useState<number | null>(null);
  const line = timelineOf({ events, now: now.value, next, within: chosen });
  if (line === null) return null;
  return (
    <section aria-labelledby="timeline">
      <div class="bar">
        <h2 id="timeline">Timeline</h2>
        <div class="choice" role="group" aria-label="How far back">
          {SPANS.map(({ name, within }) => (
            <button key={name} type="button" aria-pressed={within === chosen} onClick={() => choose(within)}>
              {name}
            </button>
          ))}
        </div>
      </div>
      <Drawing line={line} />
      <p class="legend">
        {(['attempt', 'running', 'waiting'] as const)
          .filter((kind) => line.spans.some((span) => span.kind === kind))
          .map((kind) => (
            <span key={kind}>
              <i class={`key span-${kind}`} /> {SAID[kind]}
            </span>
          ))}
        {line.ticks.some(({ isCrash }) => isCrash) ? (
          <span>
            <i class="key crash" /> crash
          </span>
        ) : null}
      </p>
    </section>
  );
}

function Drawing({ line }: { readonly line: Timeline }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  const x = (at: Instant): number => 1 + shareOf(line, at) * (width - 2);
  const at = now.value;
  return (
    <div class="timeline" ref={box}>
      <svg width={width} height={HEIGHT} role="img" aria-label={inWords(line, at)}>
        {axisOf(line, Math.max(2, Math.floor(width / 110))).map((mark) => (
          <g key={mark}>
            <line class="grid" x1={x(mark)} x2={x(mark)} y1={12} y2={50} />
            <text class="axis" x={Math.min(width - 30, Math.max(28, x(mark)))} y={64} text-anchor="middle">
              {clock(mark, line.to - line.from)}
            </text>
          </g>
        ))}
        {line.spans.map((span) => (
          <rect
            key={`${span.from} ${span.kind} ${span.isPlan}`}
            class={`span-${span.kind}${span.isPlan ? ' plan' : ''}`}
            x={x(span.from)}
            width={Math.max(1, x(span.to) - x(span.from))}
            y={BAR.y}
            height={BAR.height}
          >
            <title>{`${SAID[span.kind]}, ${sayDuration(between(span.from, span.to))}`}</title>
          </rect>
        ))}
        {line.ticks.map(({ event, at: moment, isCrash }) => (
          <path
            key={event.id}
            class={isCrash ? 'crash' : 'tick'}
            d={isCrash ? `M${x(moment)} ${BAR.y + 18}l4.5 8h-9Z` : `M${x(moment)} ${BAR.y + 18}v5`}
          >
            <title>{`${event.at} ${event.type}: ${event.message}`}</title>
          </path>
        ))}
        <line class="now" x1={x(at)} x2={x(at)} y1={8} y2={50} />
        <NextLabel line={line} x={x} width={width} at={at} />
      </svg>
    </div>
  );
}

type NextProps = {
  readonly line: Timeline;
  readonly x: (at: Instant) => number;
  readonly width: number;
  readonly at: Instant;
};

function NextLabel({ line, x, width, at }: NextProps): JSX.Element {
  const isRight = x(at) > width - 90;
  if (line.next === null)
    return (
      <text class="axis" x={x(at) - 5} y={14} text-anchor="end">
        now
      </text>
    );
  return (
    <text class="count" x={width - 2} y={14} text-anchor="end">
      {isRight ? '' : '▸ '}next attempt in {sayDuration(between(at, line.next))}
    </text>
  );
}

/** UTC, as the log and every other clock of ours. */
function clock(at: Instant, length: number): string {
  const text = new Date(at).toISOString();
  if (length > hours(36)) return text.slice(5, 16).replace('T', ' ');
  return length < minutes(20) ? text.slice(11, 19) : text.slice(11, 16);
}

function inWords({ from, ticks, next }: Timeline, at: Instant): string {
  const crashes = ticks.filter(({ isCrash }) => isCrash).length;
  const ahead = next === null ? '' : `; the next attempt is in ${sayDuration(between(at, next))}`;
  return `${ticks.length} events in ${sayDuration(between(from, at))}, ${crashes} of them crashes${ahead}. The events are listed below.`;
}
