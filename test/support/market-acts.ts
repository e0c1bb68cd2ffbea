import type { MarketAct } from './market-commands.js'

/** An order that lives for a day, of trader 1 where it buys and of trader 2 where it sells. */
export const place = (buy: boolean, price: number, size: number): MarketAct => ({
  act: 'place',
  buy,
  price,
  size,
  trader: buy ? 1 : 2,
  unchecked: false,
  livesSec: 86_400,
})

/** The match of this place in the queue is settled. */
export const settle = (pick: number): MarketAct => ({ act: 'settle', pick, outcome: 'success' })
