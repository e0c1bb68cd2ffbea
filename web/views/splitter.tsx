import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { PANE_BOUNDS, paneSize, paneStep, type PaneName } from '../select/pane-size.js'
import { usePage } from './page.js'

/** The edge of a pane: drawn by a pointer, or moved by arrow keys; a double click takes the size back that the page gives. */
export function Splitter({ name }: { readonly name: PaneName }): JSX.Element {
  const { prefs, set } = usePage().terminal.prefs
  const { words, isColumn, least, most } = PANE_BOUNDS[name]
  /** Size and place of the pointer where a drag began. */
  const from = useSignal<{ readonly size: number; readonly at: number } | undefined>(undefined)
  const { panes } = prefs.value
  const resize = (pixels: number): void =>
    set({ panes: { ...panes, [name]: paneSize(name, pixels) } })
  const sizeNow = (element: Element): number => {
    const { width, height } = (element.nextElementSibling ?? element).getBoundingClientRect()
    return isColumn ? width : height
  }
  const placeOf = (event: PointerEvent): number => (isColumn ? event.clientX : event.clientY)
  return (
    <div
      class={`splitter at-${name}`}
      role="separator"
      tabIndex={0}
      aria-label={words}
      aria-orientation={isColumn ? 'vertical' : 'horizontal'}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={panes[name] ?? least}
      onKeyDown={(event) => {
        const by = paneStep(name, event.key)
        if (by === undefined) return
        event.preventDefault()
        resize(sizeNow(event.currentTarget) + by)
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        from.value = { size: sizeNow(event.currentTarget), at: placeOf(event) }
      }}
      onPointerMove={(event) => {
        if (from.value !== undefined) resize(from.value.size + from.value.at - placeOf(event))
      }}
      onPointerUp={() => (from.value = undefined)}
      onPointerCancel={() => (from.value = undefined)}
      onDblClick={() => {
        const others = Object.entries(panes).filter(([each]) => each !== name)
        set({ panes: Object.fromEntries(others) })
      }}
    />
  )
}
