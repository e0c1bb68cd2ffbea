import type { JSX } from 'preact'
import { OUTLIVES_SEC } from '../act/dead-man.js'
import { usePage } from './page.js'

/** Arms and disarms the dead man's switch; absent where each renewal would ask a wallet. */
export function DeadManSwitch(): JSX.Element | null {
  const { isArmed, isPossible, toggle } = usePage().deadMan
  if (!isPossible.value) return null
  return (
    <button
      type="button"
      aria-pressed={isArmed.value}
      title={`All orders are cancelled ${OUTLIVES_SEC} seconds after this page is gone, or once the browser slows it in the background`}
      onClick={toggle}
    >
      Dead man {isArmed.value ? 'on' : 'off'}
    </button>
  )
}
