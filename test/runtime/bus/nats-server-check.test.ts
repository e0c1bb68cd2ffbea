import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BusMisconfigured, BusUnavailable } from '../../../runtime/bus/bus.js'
import {
  assertDurable,
  assertServer,
  ClusterIncomplete,
  isAtLeast,
} from '../../../runtime/bus/nats-server-check.js'
import { freePort } from '../../support/free-port.js'
import { rejectionOf } from './probes.js'

const facts = { serverId: 'S', version: '2.10.27', maxPayload: 1_048_576, jetstream: true }

const expected = { serverId: 'S', isClustered: false, replicas: 1, onWarning: () => undefined }

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
    const unfit = [{ version: '2.9.10' }, { maxPayload: 65_536 }]
    for (const fault of unfit) {
      expect(() => assertServer({ ...facts, ...fault }, 1_048_576)).to.throw(BusMisconfigured)
    }
  })

  it('takes one that has turned JetStream off for unavailable: after a write that its disk refused a restart helps', () => {
    const off = { ...facts, jetstream: false }
    expect(() => assertServer(off, 1_048_576)).to.throw(BusUnavailable, 'without JetStream')
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
      await assertDurable([url], expected)
    })

    it('refuses one that does not, or another than the connected one', async () => {
      answer = JSON.stringify({ server_id: 'S', config: { sync_interval: 120_000_000_000 } })
      expect(await rejectionOf(assertDurable([url], expected))).to.be.instanceOf(BusMisconfigured)
      answer = JSON.stringify({ server_id: 'S', config: { sync_always: true } })
      expect(
        await rejectionOf(assertDurable([url], { ...expected, serverId: 'T' })),
      ).to.be.instanceOf(BusMisconfigured)
    })

    it('takes one that starts for one that does not answer', async () => {
      answer = JSON.stringify({ server_id: 'S', disabled: true, config: {} })
      const error = await rejectionOf(assertDurable([url], expected))
      expect(error).to.be.instanceOf(BusUnavailable)
      expect(String(error)).to.contain('starts')
    })

    it('accepts a cluster of which one server is away, and tells a small one from none', async () => {
      const cluster = { server_id: 'S', config: { sync_always: true } }
      const warned: string[] = []
      const onWarning = (text: string) => warned.push(text)
      const three = { ...expected, isClustered: true, replicas: 3, onWarning }
      const second = createServer((_, response) => {
        response.end(JSON.stringify({ ...cluster, server_id: 'T', ...size }))
      })
      await new Promise<void>((resolve) => second.listen(0, '127.0.0.1', resolve))
      const other = `http://127.0.0.1:${(second.address() as AddressInfo).port}`
      const away = `http://127.0.0.1:${await freePort()}`
      let size = { meta_cluster: { leader: 'T', cluster_size: 3 } }
      answer = JSON.stringify({ ...cluster, ...size })
      await assertDurable([url, other, away], three)
      expect(warned.join()).to.contain(away).and.to.contain('unchecked')
      const refused = async (urls: readonly string[]) => rejectionOf(assertDurable(urls, three))
      expect(await refused([url, other])).to.be.instanceOf(BusMisconfigured)
      expect(await refused([url, url, other])).to.be.instanceOf(BusMisconfigured)
      expect(await refused([url, away, `${away}/`])).to.be.instanceOf(BusUnavailable)
      const alone = assertDurable([url, other, away], { ...three, isClustered: false })
      expect(await rejectionOf(alone)).to.be.instanceOf(BusMisconfigured)
      size = { meta_cluster: { leader: '', cluster_size: 3 } }
      answer = JSON.stringify({ ...cluster, ...size })
      const unled = await refused([url, other, away])
      expect(unled).to.be.instanceOf(ClusterIncomplete)
      expect(String(unled)).to.contain('no leader')
      size = { meta_cluster: { leader: 'T', cluster_size: 2 } }
      const small = await refused([url, other, away])
      expect(small).to.be.instanceOf(ClusterIncomplete)
      expect(String(small)).to.contain(`${other} counts 2 servers`)
      second.close()
    })

    it('tells when the monitoring port says nothing of use', async () => {
      answer = 'nonsense'
      expect(await rejectionOf(assertDurable([url], expected))).to.be.instanceOf(BusUnavailable)
    })
  })
})
