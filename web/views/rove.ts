/** Keys of a grid: one stop of the tab key, and arrows inside. */

const STEPS: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** Moves the focus among what `selector` finds in the rows of the table; from the table itself, to the first of them. */
export function rove(event: KeyboardEvent, selector: string): void {
  const step = STEPS[event.key]
  const table = event.currentTarget as HTMLElement
  if (step === undefined) return
  const rows = [...table.querySelectorAll('tr')]
    .map((row) => [...row.querySelectorAll<HTMLElement>(selector)])
    .filter((row) => row.length > 0)
  const from = (event.target as Element).closest<HTMLElement>(selector)
  const at = from === null ? -1 : rows.findIndex((row) => row.includes(from))
  const column = from === null ? 0 : (rows[at]?.indexOf(from) ?? 0) + step[1]
  const row = rows[from === null ? 0 : at + step[0]]
  const to = row?.[Math.max(0, Math.min(column, row.length - 1))]
  if (to === undefined) return
  event.preventDefault()
  to.focus()
}
