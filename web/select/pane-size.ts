/** The panes of the wide page whose size can be chosen: columns by their width, the lists by their height. */
export type PaneName = 'side' | 'ticket' | 'tables'

interface PaneBounds {
  readonly words: string
  readonly isColumn: boolean
  /** In pixels. */
  readonly least: number
  readonly most: number
}

export const PANE_BOUNDS: Readonly<Record<PaneName, PaneBounds>> = {
  side: { words: 'Width of the book', isColumn: true, least: 240, most: 560 },
  ticket: { words: 'Width of the ticket', isColumn: true, least: 260, most: 560 },
  tables: { words: 'Height of the lists', isColumn: false, least: 140, most: 640 },
}

/** A size in pixels that the pane may have, the nearest to what is asked. */
export function paneSize(name: PaneName, pixels: number): number {
  const { least, most } = PANE_BOUNDS[name]
  return Math.round(Math.min(most, Math.max(least, pixels)))
}

const STEP = 16

/** What a key adds to a pane's size; undefined for a key that changes none. The panes end at the right and at the bottom. */
export function paneStep(name: PaneName, key: string): number | undefined {
  const [more, less] = PANE_BOUNDS[name].isColumn
    ? ['ArrowLeft', 'ArrowRight']
    : ['ArrowUp', 'ArrowDown']
  if (key === more) return STEP
  return key === less ? -STEP : undefined
}
