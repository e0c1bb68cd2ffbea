import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sampleDisk } from '../../../actors/projector/measure.js'
import { createMetrics } from '../../../runtime/metrics/metrics.js'
import { tempDir } from '../../support/temp-dir.js'

describe('metrics of the bus', () => {
  const dir = tempDir()
  const report = { server_id: 'N1', storage: 5, config: { max_storage: 10 } }
  const reporting = createServer((_, response) => response.end(JSON.stringify(report)))
  const silent = createServer(() => undefined)
  const hosts = new Map<Server, string>()
  before(async () => {
    for (const server of [reporting, silent]) {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      hosts.set(server, `127.0.0.1:${(server.address() as AddressInfo).port}`)
    }
  })
  after(() => {
    for (const server of [reporting, silent]) {
      server.closeAllConnections()
      server.close()
    }
    dir.remove()
  })

  it('name the server that is silent, and have what the others report', async () => {
    // Longer than a look at a server, also on a busy machine.
    const metrics = createMetrics(60_000)
    sampleDisk(metrics, {
      dataDir: dir.path,
      markets: [],
      projectedSeq: () => 0,
      monitorUrls: [...hosts.values()].map((host) => `http://${host}`),
    })
    const { body } = await metrics.text()
    expect(body.split('\n')).to.include.members([
      `venue_bus_server_up{server="${hosts.get(reporting)}"} 1`,
      `venue_bus_server_up{server="${hosts.get(silent)}"} 0`,
      'venue_bus_used_bytes 5',
      'venue_bus_max_bytes 10',
    ])
  })
})
