import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'

/** The terminal's page as a bench looks at it: how soon it can be used, and what it costs while its market moves. */

const VIEWPORT = { width: 1440, height: 900 }
const LOADED_WITHIN_MS = 60_000
/** The page notes the moments itself: to look often would only slow it down. */
const LOOK_EVERY_MS = 100
const MEBIBYTE = 1024 * 1024

/** Notes when the ticket can be pressed and when the book has a price, in milliseconds of the navigation. */
const WATCH_LOAD = `(() => {
  const seen = (globalThis.seen = {})
  const timer = setInterval(() => {
    const button = document.querySelector('.ticket button[type=submit]')
    if (seen.usableMs === undefined && button !== null && !button.disabled) seen.usableMs = performance.now()
    const price = document.querySelector('table.ladder button[data-what=price]')
    if (seen.numbersMs === undefined && price !== null) seen.numbersMs = performance.now()
    if (seen.usableMs !== undefined && seen.numbersMs !== undefined) clearInterval(timer)
  }, 5)
})()`

/** Notes the longest task, how soon a key is painted, and how soon a press shows in the list of orders. */
const WATCH_USE = `(() => {
  const use = (globalThis.use = { longestMs: 0, keysMs: [], pressesMs: [], rows: 0 })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) use.longestMs = Math.max(use.longestMs, duration)
  }).observe({ entryTypes: ['longtask'] })
  let due = performance.now()
  setInterval(() => {
    const now = performance.now()
    use.longestMs = Math.max(use.longestMs, now - due)
    due = now + 20
  }, 20)
  const painted = (then) => requestAnimationFrame(() => setTimeout(then))
  addEventListener('keydown', ({ timeStamp }) => painted(() => use.keysMs.push(performance.now() - timeStamp)), true)
  const count = () => document.querySelectorAll('.tables table.list tbody tr').length
  addEventListener('click', ({ timeStamp, target }) => {
    if (target.closest('.ticket button[type=submit]') === null) return
    const before = count()
    const look = () => (count() > before ? use.pressesMs.push(performance.now() - timeStamp) : requestAnimationFrame(look))
    requestAnimationFrame(look)
  }, true)
})()`

export interface Load {
  /** From the navigation to the first moment at which the ticket can be pressed. */
  readonly usableMs: number
  /** To the first price in the book. */
  readonly numbersMs: number
}

export interface Use {
  /** What the page was busy with at once. */
  readonly longestMs: number
  readonly keysMs: readonly number[]
  readonly pressesMs: readonly number[]
}

/** Opens the page in a fresh browser whose processor is so many times slower. */
export async function loadPage(browser: Browser, url: string, slower: number): Promise<Load> {
  const context = await browser.newContext({ viewport: VIEWPORT })
  try {
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: slower })
    await page.addInitScript(WATCH_LOAD)
    await page.goto(url)
    return await seenBy(page)
  } finally {
    await context.close()
  }
}

/** What the page has noted of its load. The page's policy refuses what Playwright's own wait for a condition would run. */
async function seenBy(page: Page): Promise<Load> {
  const deadline = performance.now() + LOADED_WITHIN_MS
  for (;;) {
    const { usableMs, numbersMs } = await page.evaluate<Partial<Load>>('globalThis.seen')
    if (usableMs !== undefined && numbersMs !== undefined) return { usableMs, numbersMs }
    if (performance.now() >= deadline) throw new Error('the page has not loaded in time')
    await delay(LOOK_EVERY_MS)
  }
}

/** A page that is used while it is measured. */
export interface UsedPage {
  readonly page: Page
  /** Frames that have come so far. */
  frames(): number
  use(): Promise<Use>
  /** Of what is still in use, after a collection. */
  heapMib(): Promise<number>
  /** Seconds of processor that the page's process has used. */
  cpuSec(): Promise<number>
  close(): Promise<void>
}

/** Opens the page with the first account of the devnet's file, its open orders before it. */
export async function usePage(
  browser: Browser,
  { url, devnetFile }: { readonly url: string; readonly devnetFile: string },
): Promise<UsedPage> {
  const context = await browser.newContext({ viewport: VIEWPORT })
  const page = await context.newPage()
  let frames = 0
  page.on('websocket', (socket) => socket.on('framereceived', () => (frames += 1)))
  await page.goto(url)
  await page.locator('#health.live').waitFor({ timeout: LOADED_WITHIN_MS })
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByText('Developer: accounts of this devnet').click()
  await page.locator('#devnet').setInputFiles(devnetFile)
  await page.getByRole('button', { name: 'Close the dialog' }).click()
  await page.getByRole('group', { name: 'Lists' }).getByRole('button', { name: /^Open/ }).click()
  await page.locator('.chart canvas').first().waitFor()
  await page.evaluate(WATCH_USE)
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable')
  return {
    page,
    frames: () => frames,
    use: () => page.evaluate<Use>('globalThis.use'),
    heapMib: () => heapOf(session),
    cpuSec: () => cpuOf(browser, context),
    close: () => context.close(),
  }
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  const used = metrics.find(({ name }) => name === 'JSHeapUsedSize')
  if (used === undefined) throw new Error('the browser does not say how much memory its page uses')
  return used.value / MEBIBYTE
}

/** Of all renderers: the browser has no other page meanwhile. */
async function cpuOf(browser: Browser, context: BrowserContext): Promise<number> {
  if (context.pages().length !== 1) throw new Error('more than one page is open')
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo
    .filter(({ type }) => type === 'renderer')
    .reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}

/** Types a price and a size by single keys, and presses the button, so often, over so many seconds. */
export async function workTicket(page: Page, times: number, seconds: number): Promise<void> {
  const pause = (seconds * 1_000) / times
  for (let n = 0; n < times; n += 1) {
    const startedMs = performance.now()
    for (const [name, text] of [
      ['price', `${1_100 + n}`],
      ['size', '1.5'],
    ] as const) {
      await page.locator(`input[name=${name}]`).fill('')
      await page.locator(`input[name=${name}]`).pressSequentially(text)
    }
    await page.locator('.ticket button[type=submit]').click()
    await page.locator('.ticket button[type=submit]:enabled').waitFor()
    await delay(Math.max(0, pause - (performance.now() - startedMs)))
  }
}
