import { expect } from 'chai'
import type { StoryVenue } from '../stage/story-venue.js'

/** Trading in the first series ends some minutes after the venue has started. */
const ENDED_WITHIN_MS = 300_000

/** The end of story 4. */
export function endedSeries(stage: () => StoryVenue): void {
  it('4: says that trading in the series has ended, and sends nothing', async () => {
    const desk = await stage().freshDesk(stage().series.ending)
    await desk.shows(
      'Order',
      /Trading has ended: the series settles at its expiry/,
      ENDED_WITHIN_MS,
    )
    await desk.health(/halted/)
    const posted = await desk.postedBy(async () => {
      await desk.type('Buy USDC', '1540', '1000')
      await desk.shows('Order', /Trading in the series has ended: it takes no orders/)
      await desk.input('size').press('Enter')
    })
    expect(posted).to.deep.equal([])
    await desk.page.context().close()
  })
}
