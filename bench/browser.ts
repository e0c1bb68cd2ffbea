import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser']

/** The browser of Debian's package. Throws where it is not installed: what is not shown in a browser is not tested. */
export function launchBrowser(places: readonly string[] = CHROMIUM): Promise<Browser> {
  const executablePath = places.find(existsSync)
  if (executablePath === undefined)
    throw new Error('no Chromium: ./venue test installs it, or apt-get install chromium')
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}
