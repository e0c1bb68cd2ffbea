import { startStoryVenue, type StoryVenue } from './stage/story-venue.js'
import { looks } from './stories/looks.js'
import { demoStories } from './stories/demo.js'
import { endedSeries } from './stories/ended.js'
import { manyOrders } from './stories/many.js'
import { pageStories } from './stories/page.js'
import { walletRoom } from './stories/wallet-room.js'
import { walletStories } from './stories/wallet.js'

/** The ten stories by which the terminal is accepted, on one venue. Each begins with its number. */
describe('the stories of the terminal', () => {
  let started: StoryVenue | undefined
  const stage = (): StoryVenue => {
    if (started === undefined) throw new Error('no venue')
    return started
  }
  before(async () => {
    started = await startStoryVenue()
  })
  after(() => started?.stop())

  describe('with an account of the devnet', () => pageStories(stage))
  describe('with a demo account', () => demoStories(stage))
  describe('with a wallet', () => walletStories(stage))
  describe('in the room of wallets', () => walletRoom(stage))
  describe('at every width', () => looks(stage))
  describe('with many orders', () => manyOrders(stage))
  describe('after a last trade', () => endedSeries(stage))
})
