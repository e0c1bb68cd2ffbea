import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BusMisconfigured, BusUnavailable } from '../../../runtime/bus/bus.js'
import { assertDurable, assertServer, isAtLeast } from '../../../runtime/bus/nats-streams.js'
import { rejectionOf } from './probes.js'

const facts = { serverId: 'S', version: '2.10.27', maxPayload: 1_048_576, jetstream: true }

describe('what is asked of a server', () => {
  it('compares versions by number', () => {
    for (const version of ['2.10.27', '2.10.28-beta.1', '2.11.0', '2.15.1', '3.0.0']) {
      expect(isAtLeast(version, '2.10.27'), version).to.equal(true)
    }
    for (const version of ['2.9.10', '2.10.26', '1.99.99']) {
      expect(isAtLeast(version, '2.10.27'), version).to.equal(false)
    }
  })

  it('accepts the oldest that will do and refuses what will not', () => {
    expect(() => assertServer(facts, 1_048_576)).to.not.throw()
    const unfit = [{ version: '2.9.10' }, { jetstream: false }, { maxPayload: 65_536 }]
    for (const fault of unfit) {
      expect(() => assertServer({ ...facts, ...fault }, 1_048_576)).to.throw(BusMisconfigured)
    }
  })

  describe('about its disk', () => {
    let monitor: Server
    let url = ''
    let answer = ''
    before(async () => {
      monitor = createServer((request, response) => {
        response.end(request.url === '/jsz?config=1' ? answer : '')
      })
      await new Promise<void>((resolve) => monitor.listen(0, '127.0.0.1', resolve))
      url = `http://127.0.0.1:${(monitor.address() as AddressInfo).port}`
    })
    after(() => void monitor.close())

    it('accepts one that syncs every write', async () => {
      answer = JSON.stringify({ server_id: 'S', config: { sync_always: true, store_dir: '/d' } })
      await assertDurable(url, 'S')
    })

    it('refuses one that does not, or another than the connected one', async () => {
      answer = JSON.stringify({ server_id: 'S', config: { sync_interval: 120_000_000_000 } })
      expect(await rejectionOf(assertDurable(url, 'S'))).to.be.instanceOf(BusMisconfigured)
      answer = JSON.stringify({ server_id: 'S', config: { sync_always: true } })
      expect(await rejectionOf(assertDurable(url, 'T'))).to.be.instanceOf(BusMisconfigured)
    })

    it('tells when the monitoring port says nothing of use', async () => {
      answer = 'nonsense'
      expect(await rejectionOf(assertDurable(url, 'S'))).to.be.instanceOf(BusUnavailable)
    })
  })
})
