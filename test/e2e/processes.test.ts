import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { inProject } from '../../devnet/launcher/binaries.js'
import { parseProcfile } from '../../devnet/launcher/procfile.js'
import { eventually } from '../support/eventually.js'
import type { TestVenue } from '../support/venue.js'
import { sharedVenue } from './stage/shared-venue.js'
import { SPOT } from './stage/trader.js'

/** The words by which the system knows a process. */
async function commandOf(pid: number | undefined): Promise<string> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8')
  return words.split('\0').filter(Boolean).join(' ')
}

describe('the processes of a venue', function () {
  let venue: TestVenue
  before(async function () {
    venue = await sharedVenue()
  })

  const lines = async () =>
    parseProcfile(await readFile(inProject('Procfile'), 'utf8'), { markets: [SPOT], own: [SPOT] })

  it('are one for each line of the Procfile, beside bus and chain', async () => {
    const pids = await venue.pids()
    const entries = await lines()
    const names = [...entries.map(({ name }) => name), 'nats-server', 'chain']
    expect(Object.keys(pids).sort()).to.deep.equal(names.sort())
    expect(new Set(Object.values(pids)).size).to.equal(names.length)
    for (const { name, command } of entries) {
      const [prefix = ''] = /^exec (env (\S+=\S+ )+)*/.exec(command) ?? []
      expect(await commandOf(pids[name]), name).to.equal(command.slice(prefix.length))
      const nice = ['projector', 'chain-reader'].includes(name) ? 10 : 0
      expect(getPriority(pids[name]), `${name}'s priority`).to.equal(getPriority() + nice)
    }
    expect(await commandOf(pids['nats-server'])).to.match(/nats-server --config /)
    expect(await commandOf(pids.chain)).to.match(/anvil --host 127\.0\.0\.1 /)
  })

  it('each end on SIGTERM with exit code 0, stop no other process and are started again (OPE-018)', async () => {
    for (const { name } of await lines()) {
      const { [name]: ended, ...others } = await venue.pids()
      await venue.restartWorker(name)
      await eventually(() => {
        expect(venue.output()).to.include(`${name} ended with code 0; starting it again`)
      })
      await venue.untilReady()
      const { [name]: started, ...stayed } = await venue.pids()
      expect(stayed, `the others, when ${name} ended`).to.deep.equal(others)
      expect(started).to.not.equal(ended)
    }
  })
})
