import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { EXPORT_SUFFIX } from '../../bus-schemas/exports.js'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { connectArchivedBus } from '../../data/archived-bus.js'
import { openIntakeRegistry } from '../../data/intake-registry.js'
import { openMarketFile } from '../../data/market-file.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { runProcess } from '../../runtime/process/process.js'
import { takeTurn } from '../../runtime/process/standby.js'
import { watchAdmission } from './admission.js'
import { answerExport } from './answer-export.js'
import { openChain } from './chain-clients.js'
import { authorityOf, indexGateOf, readOrderIntakeConfig } from './config.js'
import { roomOf } from './disks.js'
import { sampleAdmission, sampleQueues } from './measure.js'
import { followLogs } from './stand-by.js'
import { PROCESS_NAME, startOrderIntake } from './intake.js'

const config = orExit(readOrderIntakeConfig)

runProcess({
  name: PROCESS_NAME,
  level: config.LOG_LEVEL,
  start: async ({ log, fail, end, metrics }) => {
    const file = openMarketFile(config)
    const { markets } = file
    const names = markets.map(({ market }) => market)
    const registry = openIntakeRegistry(join(config.DATA_DIR, 'intake.db'))
    const bus = await connectArchivedBus({
      ...{ versions: streamVersions(markets), archiveDir: config.FEED_ARCHIVE_DIR },
      ...{ config, user: PROCESS_NAME },
      onWarning: (message) => log.warn(message),
    })
    const id = randomUUID()
    const turn = await takeTurn({
      ...{ bus, name: PROCESS_NAME, id, nowMs: Date.now, log, onOutdone: end },
      standby: config.STANDBY === '1',
      meanwhile: () => followLogs({ bus, registry, markets, log }),
    })
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    const chain = await openChain(config.RPC_URL, deployment, (message) => log.warn(message))
    const room = roomOf(config)
    const admission = watchAdmission({ bus, markets: names, ...room, log })
    sampleAdmission(metrics, { markets: names, admission, room })
    const places = { id, bus, registry, markets, readRow: file.row, admission }
    const intake = await startOrderIntake({
      ...{ ...places, ...authorityOf(config), ...chain, nowMs: Date.now, log, onFatal: fail },
      indexGate: indexGateOf(config),
    })
    sampleQueues(metrics, intake)
    const path = join(config.DATA_DIR, `intake.db${EXPORT_SUFFIX}`)
    const exports = await answerExport({ bus, registry, path, log }, PROCESS_NAME)
    const watch = file.watch(async (row) => {
      await intake.follow(row)
      names.push(row.market)
    }, fail)
    return {
      stop: async () => {
        for (const part of [turn, watch, exports, admission, intake]) await part.stop()
        await bus.close()
        registry.close()
      },
    }
  },
})
