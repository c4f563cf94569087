/** Slots below this one are the heads of lists. */
export const FIRST_SLOT = 4;
/** Slots that arrays begin with. */
export const SLOTS_FIRST = 64;

/*
 * Doubly linked lists in one array that holds all that rules keep of a slot, side by side, so that a slot costs one line
 * of the processor's cache. A place is the index of two cells: the place of the next older, and that of the next newer.
 * Each list is a ring through its head; an empty list's head is its own neighbour. The oldest is the head's next newer.
 */

/** Cells for slots of so many cells each; every place at `offsets` of a head is an empty ring. */
export function ringCells(cellsPerSlot: number, offsets: readonly number[]): Int32Array {
  const cells = new Int32Array(SLOTS_FIRST * cellsPerSlot);
  for (let head = 0; head < FIRST_SLOT; head += 1) {
    for (const offset of offsets) {
      const place = head * cellsPerSlot + offset;
      cells[place] = place;
      cells[place + 1] = place;
    }
  }
  return cells;
}

export function grown(cells: Int32Array, length: number): Int32Array {
  const larger = new Int32Array(length);
  larger.set(cells);
  return larger;
}

export function addNewest(cells: Int32Array, head: number, place: number): void {
  const newest = cells[head]!;
  cells[newest + 1] = place;
  cells[place] = newest;
  cells[place + 1] = head;
  cells[head] = place;
}

export function addOldest(cells: Int32Array, head: number, place: number): void {
  const oldest = cells[head + 1]!;
  cells[oldest] = place;
  cells[place + 1] = oldest;
  cells[place] = head;
  cells[head + 1] = place;
}

export function unlink(cells: Int32Array, place: number): void {
  const older = cells[place]!;
  const newer = cells[place + 1]!;
  cells[older + 1] = newer;
  cells[newer] = older;
}

/** The same as `unlink` and `addNewest`. */
export function renew(cells: Int32Array, head: number, place: number): void {
  const newer = cells[place + 1]!;
  if (newer === head) return;
  const older = cells[place]!;
  cells[older + 1] = newer;
  cells[newer] = older;
  addNewest(cells, head, place);
}

/** The oldest that isn't `keep`; the head: there is none. */
export function oldestBut(cells: Int32Array, head: number, keep: number): number {
  const oldest = cells[head + 1]!;
  return oldest === keep ? cells[oldest + 1]! : oldest;
}
