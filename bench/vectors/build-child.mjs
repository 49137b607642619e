// Builds the vector that its argument describes, for build.mjs, and tells its own processor time.
import { buildVector } from '@gateway/vectors/build.js'

const task = JSON.parse(process.argv[2])
const built = await buildVector(task, () => {})
const { user, system } = process.cpuUsage()
process.send({ built, seconds: (user + system) / 1e6 })
