import { expect } from 'chai'
import { within } from '../../../runtime/process/within.js'

describe('a value that is waited for within a time', () => {
  it('is itself, its error, or undefined', async () => {
    expect(await within(Promise.resolve(1), 60_000)).to.equal(1)
    const failed = within(Promise.reject(new Error('no')), 60_000)
    expect(await failed.catch((error: unknown) => String(error))).to.equal('Error: no')
    expect(await within(new Promise(() => undefined), 1)).to.equal(undefined)
  })

  it('may be rejected afterwards', async () => {
    const unhandled: unknown[] = []
    const hear = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', hear)
    let reject: (error: Error) => void = () => undefined
    expect(await within(new Promise((_, fail) => (reject = fail)), 1)).to.equal(undefined)
    reject(new Error('late'))
    // Node tells of unhandled ones after the tasks that are due.
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    process.off('unhandledRejection', hear)
    expect(unhandled).to.deep.equal([])
  })
})
