import type { LevelRecord, LocalLevels, MarketEntry } from '../client/index.js'
import { el, panel, svg, table } from './dom.js'
import { shown, sideShown, toNumber, type Units } from './units.js'

const LEVELS = 12
const DEPTH_LEVELS = 60
const [WIDTH, HEIGHT] = [300, 90]

export interface BookView {
  readonly section: HTMLElement
  /** The levels as they are now. */
  draw(levels: LocalLevels): void
  show(units: Units): void
}

/** The ladder of a market with its depth, drawn at most once a frame. */
export function createBookView(market: MarketEntry): BookView {
  const { section, body } = panel('Book', 'live')
  let book: LocalLevels | undefined
  let units: Units = 'trader'
  let isDue = false
  const draw = (): void => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      if (book === undefined) return
      const [bids, asks] = [book.levels('buy'), book.levels('sell')]
      body.replaceChildren(depth(market, units, bids, asks), ladder(market, units, { bids, asks }))
    })
  }
  return {
    section,
    draw(levels) {
      book = levels
      draw()
    },
    show(wanted) {
      units = wanted
      draw()
    },
  }
}

interface Sides {
  readonly bids: readonly LevelRecord[]
  readonly asks: readonly LevelRecord[]
}

/** Asks above bids, the best prices in the middle; trader terms exchange the two where they exchange the sides. */
function ladder(market: MarketEntry, units: Units, { bids, asks }: Sides): HTMLElement {
  const exchanged = sideShown(market, units, 'buy') === 'sell'
  const [lower, upper] = exchanged ? [asks, bids] : [bids, asks]
  const row = (className: string) => (level: LevelRecord) => {
    const { price, size } = shown(market, units, level.price, level.size)
    return [{ text: price, class: className }, size]
  }
  const above = upper.slice(0, LEVELS).map(row('ask')).reverse()
  const below = lower.slice(0, LEVELS).map(row('bid'))
  const [priceUnit, sizeUnit] =
    units === 'trader'
      ? [market.ui_price_unit, market.ui_size_unit]
      : [market.engine_price_unit, market.engine_amount_unit]
  if (above.length + below.length === 0) return el('p', { class: 'quiet' }, 'No open orders.')
  return table('Asks above, bids below', [priceUnit, sizeUnit], [...above, ...below])
}

/** Sizes added up from the best price outwards, as two areas. */
function depth(
  market: MarketEntry,
  units: Units,
  bids: readonly LevelRecord[],
  asks: readonly LevelRecord[],
): SVGElement {
  const drawing = svg('svg', {
    ...{ class: 'depth', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' },
    ...{ role: 'img', 'aria-label': 'Depth of the book' },
  })
  const sums = (levels: readonly LevelRecord[]) => {
    let sum = 0
    return levels.slice(0, DEPTH_LEVELS).map(({ price, size }) => {
      sum += Number(size)
      return { at: toNumber(market, units, price), sum }
    })
  }
  const [buying, selling] = [sums(bids), sums(asks)]
  const all = [...buying, ...selling]
  const prices = all.map(({ at }) => at)
  const [low, high] = [Math.min(...prices), Math.max(...prices)]
  const most = Math.max(...all.map(({ sum }) => sum))
  if (all.length === 0 || high === low) return drawing
  const x = (at: number): string => (((at - low) / (high - low)) * WIDTH).toFixed(1)
  const y = (sum: number): string => (HEIGHT - (sum / most) * HEIGHT).toFixed(1)
  const area = (points: typeof all, className: string): void => {
    const [first] = points
    const last = points.at(-1)
    if (first === undefined || last === undefined) return
    const steps = points.map(({ at, sum }, index) => {
      const before = points[index - 1]?.sum ?? 0
      return `L${x(at)} ${y(before)}L${x(at)} ${y(sum)}`
    })
    const path = `M${x(first.at)} ${HEIGHT}${steps.join('')}L${x(last.at)} ${HEIGHT}Z`
    drawing.append(svg('path', { d: path, class: className }))
  }
  const exchanged = sideShown(market, units, 'buy') === 'sell'
  area(buying, exchanged ? 'ask' : 'bid')
  area(selling, exchanged ? 'bid' : 'ask')
  return drawing
}
