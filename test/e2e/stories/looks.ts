import { expect } from 'chai'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { openTerminal, THEMES, tradeWithDemo, WIDTHS, type Look } from '../stage/page-looks.js'
import type { StoryVenue } from '../stage/story-venue.js'
import { SPOT } from '../stage/trader.js'

/** The run keeps its pictures here. */
const PICTURES = inProject('.cache/screenshots')

/** The terminal at each width in each theme. */
export function looks(stage: () => StoryVenue): void {
  /** What the browser of a demo account has stored. */
  let state: NonNullable<Look['state']>
  before(async () => {
    await mkdir(PICTURES, { recursive: true })
    const page = await open({ width: 1440, theme: 'dark' })
    await tradeWithDemo(page)
    state = await page.context().storageState()
    await page.context().close()
  })

  const open = (look: Look): Promise<Page> =>
    openTerminal(stage().browser, `${stage().venue.gatewayUrl}/#/${SPOT}`, look)

  for (const theme of THEMES)
    for (const width of WIDTHS)
      it(`fits ${width} pixels in ${theme}, and is kept as a picture`, async () => {
        const page = await open({ width, theme, state })
        await page.getByRole('button', { name: /^Demo.* · 0x/ }).waitFor()
        await page.locator('.chart canvas').first().waitFor()
        await page.screenshot({ path: join(PICTURES, `${width}-${theme}.png`) })
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
        expect(wide).to.be.at.most(width)
        await page.context().close()
      })

  it('has the ticket one press away on a phone', async () => {
    const page = await open({ width: 390, theme: 'dark', state })
    await page.getByRole('button', { name: 'Buy', exact: true }).click()
    const { height = 0 } = page.viewportSize() ?? {}
    for (const field of ['input[name=price]', 'input[name=size]', '.ticket button[type=submit]']) {
      const box = await page.locator(field).boundingBox()
      expect((box?.y ?? Infinity) + (box?.height ?? 0), field).to.be.at.most(height)
    }
    await page.context().close()
  })
}
