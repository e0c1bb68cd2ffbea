import type { Browser, BrowserContext, Page } from 'playwright-core'

/** The ways in which the terminal is looked at. */

export const WIDTHS = [390, 820, 1440, 1920] as const
export const THEMES = ['dark', 'light'] as const
export type Theme = (typeof THEMES)[number]

const HEIGHTS: Readonly<Record<number, number>> = { 390: 844, 820: 1180, 1440: 900, 1920: 1080 }

export interface Look {
  readonly width: number
  readonly theme: Theme
  /** What another page has stored: its demo account among it. */
  readonly state?: Awaited<ReturnType<BrowserContext['storageState']>>
}

/** A page of a fresh browser of this width and theme, once its feed is there. */
export async function openTerminal(
  browser: Browser,
  url: string,
  { width, theme, state }: Look,
): Promise<Page> {
  const viewport = { width, height: HEIGHTS[width] ?? 900 }
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    ...(state !== undefined && { storageState: state }),
  })
  const page = await context.newPage()
  await page.goto(url)
  await page.locator('#health.live, #health.halted').waitFor({ timeout: 30_000 })
  return page
}

/** Lets the page have a demo account. */
export async function tradeWithDemo(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('button', { name: 'Trade with a demo account' }).click()
  await page.getByRole('button', { name: /^Demo.* · 0x/ }).waitFor({ timeout: 60_000 })
}
