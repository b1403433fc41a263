/** A binary heap: the least item first. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  peek(): T | null {
    return this.#items[0] ?? null;
  }

  push(item: T): void {
    const items = this.#items;
    items.push(item);
    let child = items.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfLess(child, parent)) return;
      child = parent;
    }
  }

  pop(): T | null {
    const items = this.#items;
    const least = items[0];
    const last = items.pop();
    if (least === undefined || last === undefined) return null;
    if (items.length > 0) {
      items[0] = last;
      this.#sink();
    }
    return least;
  }

  #sink(): void {
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      const right = left + 1;
      const lesser = right < this.#items.length && this.#less(right, left) ? right : left;
      if (lesser >= this.#items.length || !this.#swapIfLess(lesser, parent)) return;
      parent = lesser;
    }
  }

  #less(a: number, b: number): boolean {
    const [itemA, itemB] = [this.#items[a], this.#items[b]];
    return itemA !== undefined && itemB !== undefined && this.#compare(itemA, itemB) < 0;
  }

  #swapIfLess(a: number, b: number): boolean {
    const [itemA, itemB] = [this.#items[a], this.#items[b]];
    if (itemA === undefined || itemB === undefined || this.#compare(itemA, itemB) >= 0) return false;
    this.#items[a] = itemB;
    this.#items[b] = itemA;
    return true;
  }
}
