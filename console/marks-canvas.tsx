/** Ten thousand marks in one canvas that is as large as the window: what is scrolled out of sight is not drawn. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Tone } from '../present/tone.ts';
import type { View } from './address.ts';
import { SHAPES } from './mark-shape.tsx';
import { blocksOf, layoutOf, markAt, placeOf, type Layout, type Mark } from './marks.ts';
import type { Grouping } from './address.ts';
import { Sentence } from './moment.tsx';
import { goTo } from './navigation.tsx';

const TONES = Object.keys(SHAPES) as readonly Tone[];
const FONT = '12px ui-sans-serif, system-ui, sans-serif';

type Ink = Readonly<Record<Tone | 'text' | 'faint' | 'focus', string>>;
type Tip = { readonly mark: Mark; readonly x: number; readonly y: number };

const viewOfMark = ({ kind, id }: Mark): View => ({ name: kind, id });

/** The colours of the style sheet as they are now: dark and light change under way. */
function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const tones = Object.fromEntries(TONES.map((tone) => [tone, colour(tone)])) as Record<Tone, string>;
  return { ...tones, text: colour('ink'), faint: colour('faint'), focus: colour('focus') };
}

const PATHS = new Map<Tone, Path2D>();
function pathOf(tone: Tone): Path2D {
  const known = PATHS.get(tone) ?? new Path2D(SHAPES[tone].path);
  PATHS.set(tone, known);
  return known;
}

type Scene = { readonly layout: Layout; readonly ink: Ink; readonly top: number; readonly cursor: Mark | null };

/** Draws what lies between `top` and the foot of the canvas. */
function draw(canvas: HTMLCanvasElement, { layout, ink, top, cursor }: Scene): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const ratio = devicePixelRatio;
  const height = canvas.height / ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.lineWidth = 1.3;
  context.textBaseline = 'top';
  context.font = FONT;
  const scale = (layout.cell * 0.82) / 10;
  for (const placed of layout.placed) {
    if (placed.top + placed.height < top || placed.top > top + height) continue;
    drawLabel(context, layout, { ink, label: placed.block.label, caption: placed.block.caption, y: placed.top - top });
    const first = Math.max(0, Math.floor((top - placed.marksTop) / layout.cell)) * placed.columns;
    const last = Math.ceil((top + height - placed.marksTop) / layout.cell) * placed.columns;
    for (let index = first; index < Math.min(last, placed.block.marks.length); index += 1) {
      const mark = placed.block.marks[index];
      if (mark === undefined) continue;
      const x = layout.left + (index % placed.columns) * layout.cell;
      const y = placed.marksTop + Math.floor(index / placed.columns) * layout.cell - top;
      context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
      drawShape(context, mark.tone, ink);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }
  drawCursor(context, { layout, ink, top, cursor });
}

function drawShape(context: CanvasRenderingContext2D, tone: Tone, ink: Ink): void {
  if (SHAPES[tone].outline) {
    context.strokeStyle = ink[tone];
    context.stroke(pathOf(tone));
  } else {
    context.fillStyle = ink[tone];
    context.fill(pathOf(tone));
  }
}

type Label = { readonly ink: Ink; readonly label: string; readonly caption: string; readonly y: number };

function drawLabel(context: CanvasRenderingContext2D, { left }: Layout, { ink, label, caption, y }: Label): void {
  const short = label.length > 20 ? `${label.slice(0, 19)}…` : label;
  context.fillStyle = ink.text;
  context.textAlign = 'left';
  context.fillText(short, 0, y + 3);
  context.fillStyle = ink.faint;
  if (left > 0) {
    context.textAlign = 'right';
    context.fillText(caption, left - 14, y + 3);
  } else {
    context.fillText(caption, short === '' ? 0 : context.measureText(short).width + 8, y + 3);
  }
  context.textAlign = 'left';
}

function drawCursor(context: CanvasRenderingContext2D, { layout, ink, top, cursor }: Scene): void {
  const place = cursor === null ? null : placeOf(layout, cursor.id, cursor.kind);
  if (place === null) return;
  context.strokeStyle = ink.focus;
  context.lineWidth = 2;
  const size = layout.cell;
  const offset = size * 0.09;
  context.strokeRect(place.x - size / 2 - offset, place.y - size / 2 - top - offset, size, size);
}

type MarksProps = { readonly marks: readonly Mark[]; readonly by: Grouping };

export function MarksCanvas({ marks, by }: MarksProps): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [cursor, setCursor] = useState<Mark | null>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  const blocks = useMemo(() => blocksOf(marks, by), [marks, by]);
  const layout = useMemo(() => layoutOf(blocks, width), [blocks, width]);

  useEffect(() => {
    const box = frame.current;
    if (box === null) return;
    const observer = new ResizeObserver(() => setWidth(box.clientWidth));
    observer.observe(box);
    setWidth(box.clientWidth);
    return () => observer.disconnect();
  }, []);

  useEffect(() => keepDrawn(frame.current, canvas.current, { layout, cursor }), [layout, cursor, width]);

  const markUnder = (event: MouseEvent): Tip | null => {
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined) return null;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const mark = markAt(layout, x, y);
    return mark === null ? null : { mark, x, y };
  };
  const onKey = (event: KeyboardEvent): void => {
    const to = stepOf(event.key, layout, cursor);
    if (event.key === 'Enter' && cursor !== null) goTo(viewOfMark(cursor));
    if (event.key === 'Escape') setCursor(null);
    if (to === null) return;
    event.preventDefault();
    setCursor(to);
    const place = placeOf(layout, to.id, to.kind);
    const box = frame.current?.getBoundingClientRect();
    if (place === null || box === undefined) return;
    const y = box.top + place.y;
    if (y < 80 || y > innerHeight - 60) scrollBy(0, y - innerHeight / 2);
    setTip({ mark: to, x: place.x, y: place.y });
  };

  return (
    <div class="marks" ref={frame} style={{ height: `${layout.height}px` }}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`${marks.length} nodes and VMs as marks. Arrow keys go from mark to mark, Enter opens one. The list says the same in words.`}
        onMouseMove={(event) => setTip(markUnder(event))}
        onMouseLeave={() => setTip(null)}
        onBlur={() => setTip(null)}
        onClick={(event) => {
          const under = markUnder(event);
          if (under !== null) goTo(viewOfMark(under.mark));
        }}
        onKeyDown={onKey}
      />
      {tip === null ? null : <MarkTip tip={tip} width={width} />}
      <p class="unseen" role="status">
        {cursor === null ? '' : `${cursor.kind} ${cursor.id}: ${cursor.state}. ${cursor.explanation}`}
      </p>
    </div>
  );
}

function MarkTip({ tip: { mark, x, y }, width }: { readonly tip: Tip; readonly width: number }): JSX.Element {
  const left = Math.max(0, Math.min(x + 14, width - 330));
  return (
    <div class="tip" style={{ left: `${left}px`, top: `${y + 18}px` }}>
      <strong class="id">{mark.id}</strong> <span class={`tone-${mark.tone}`}>{mark.state}</span>
      {mark.version === null ? null : <span class="faint"> {mark.version}</span>}
      <div>
        <Sentence text={mark.explanation} />
      </div>
    </div>
  );
}

/** Draws now, and again when the page is scrolled or its colours change. */
function keepDrawn(
  frame: HTMLDivElement | null,
  canvas: HTMLCanvasElement | null,
  { layout, cursor }: Pick<Scene, 'layout' | 'cursor'>,
): () => void {
  if (frame === null || canvas === null) return () => undefined;
  let asked = 0;
  let ink = inkOf(frame);
  const redraw = (): void => {
    asked = 0;
    const seen = Math.min(layout.height, innerHeight);
    const top = Math.max(0, Math.min(layout.height - seen, -frame.getBoundingClientRect().top));
    fit(canvas, frame.clientWidth, seen);
    canvas.style.transform = `translateY(${top}px)`;
    draw(canvas, { layout, ink, top, cursor });
  };
  const later = (): void => {
    if (asked === 0) asked = requestAnimationFrame(redraw);
  };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const recoloured = (): void => {
    ink = inkOf(frame);
    later();
  };
  redraw();
  addEventListener('scroll', later, { passive: true });
  addEventListener('resize', later);
  dark.addEventListener('change', recoloured);
  return () => {
    cancelAnimationFrame(asked);
    removeEventListener('scroll', later);
    removeEventListener('resize', later);
    dark.removeEventListener('change', recoloured);
  };
}

function fit(canvas: HTMLCanvasElement, width: number, height: number): void {
  const [w, h] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/** The mark that a key leads to; null: the key leads nowhere. */
function stepOf(key: string, layout: Layout, from: Mark | null): Mark | null {
  const all = layout.placed.flatMap(({ block }) => block.marks);
  if (!key.startsWith('Arrow') && key !== 'Home' && key !== 'End') return null;
  if (from === null || key === 'Home') return all[0] ?? null;
  if (key === 'End') return all.at(-1) ?? null;
  const at = all.findIndex(({ id, kind }) => id === from.id && kind === from.kind);
  if (key === 'ArrowRight') return all[at + 1] ?? null;
  if (key === 'ArrowLeft') return all[at - 1] ?? null;
  const place = placeOf(layout, from.id, from.kind);
  if (place === null) return null;
  return nextRow(layout, place, key === 'ArrowDown' ? 1 : -1);
}

/** The nearest mark in the next row above or below, across blocks. */
function nextRow(layout: Layout, { x, y }: { x: number; y: number }, way: 1 | -1): Mark | null {
  for (let at = y + way * layout.cell; at >= 0 && at <= layout.height; at += (way * layout.cell) / 2) {
    for (let left = x; left >= layout.left; left -= layout.cell) {
      const mark = markAt(layout, left, at);
      if (mark !== null) return mark;
    }
  }
  return null;
}
