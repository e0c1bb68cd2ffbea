import { after } from 'mocha'
import { startVenue, type TestVenue } from '../../support/venue.js'

let started: Promise<TestVenue> | undefined

/**
 * One whole venue for all end-to-end tests that can share it: an empty book at first, a block each second. Tests use
 * prices or accounts of their own, and leave no order behind that another could meet.
 */
export function sharedVenue(): Promise<TestVenue> {
  started ??= startVenue({ blockTime: 1 })
  return started
}

/** Mocha's root hook: the shared venue stops after the last test. */
after(async function () {
  await (await started?.catch(() => undefined))?.stop()
})
