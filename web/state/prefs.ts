import { effect, signal, type Signal } from '@preact/signals'
import type { LineGroup } from '../select/chart-lines.js'
import type { PaneName } from '../select/pane-size.js'
import type { TextStorage } from '../wallet/session-key.js'

/** What a user has chosen on this device. */
export interface Prefs {
  readonly theme: 'system' | 'dark' | 'light'
  readonly colours: 'green-red' | 'blue-orange'
  readonly isUtc: boolean
  readonly hasKeys: boolean
  /** How far from the best price a market order may go, in basis points. */
  readonly guardBps: number
  /** Lines of the chart that are not shown. */
  readonly hiddenLines: readonly LineGroup[]
  /** Whether closes, cancels of many and orders that were dragged are asked about. */
  readonly confirms: boolean
  readonly favourites: readonly string[]
  /** Sizes of panes that were chosen, in pixels. */
  readonly panes: Readonly<Partial<Record<PaneName, number>>>
  /** The account with which a market is traded, by market. */
  readonly accounts: Readonly<Record<string, string>>
}

const DEFAULTS: Prefs = {
  theme: 'system',
  colours: 'green-red',
  isUtc: false,
  hasKeys: false,
  guardBps: 100,
  confirms: true,
  hiddenLines: [],
  favourites: [],
  panes: {},
  accounts: {},
}

const PLACE = 'terminal-preferences'
/** What a market order's guard may be. */
export const GUARDS_BPS = [10, 25, 50, 100, 200, 500] as const

/** The preferences that are kept in `storage`; each change is kept. Where the browser keeps nothing, they last as long as the page. */
export function createPrefs(storage: Pick<TextStorage, 'getItem' | 'setItem'> | undefined): {
  readonly prefs: Signal<Prefs>
  readonly set: (changed: Partial<Prefs>) => void
} {
  const prefs = signal<Prefs>({ ...DEFAULTS, ...kept(storage) })
  effect(() => {
    const text = JSON.stringify(prefs.value)
    try {
      storage?.setItem(PLACE, text)
    } catch (error) {
      // A full or blocked storage: they last as long as the page.
      if (!(error instanceof Error)) throw error
    }
  })
  return {
    prefs,
    set: (changed) => void (prefs.value = { ...prefs.value, ...changed }),
  }
}

function kept(storage: Pick<TextStorage, 'getItem'> | undefined): Partial<Prefs> {
  try {
    const found: unknown = JSON.parse(storage?.getItem(PLACE) ?? '{}')
    return typeof found === 'object' && found !== null ? found : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
