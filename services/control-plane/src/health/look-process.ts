import { closeSync, readdirSync, realpathSync } from 'node:fs'
import { openBelowSync } from '@gateway/files/open-below.js'
import { currentRealRoot, isBelow } from '@gateway/files/real-root.js'
import { serve } from '../scans/helper/serve.js'
import type { Place, Presence } from './place.js'

serve<readonly Place[], Presence[]>((places, progress) =>
  places.map((place) => {
    progress()
    return look(place)
  }),
)

function look(place: Place): Presence {
  try {
    return place.is === 'file' ? lookAtFile(place) : lookAtTree(place)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' ? 'gone' : 'unknown'
  }
}

function lookAtFile({ root, path }: Place): Presence {
  const opened = openBelowSync(root, path)
  if (!opened.ok) return opened.reason === 'unreadable' ? 'unknown' : 'gone'
  closeSync(opened.fd)
  return 'there'
}

/** A folder without any zoom folder is what remains of a version when its tiles are deleted or its disk is not mounted. */
function lookAtTree({ root, path }: Place): Presence {
  const real = realpathSync.native(path)
  if (!isBelow(currentRealRoot(root), real)) return 'gone'
  return readdirSync(real).some((name) => /^\d{1,2}$/.test(name)) ? 'there' : 'gone'
}
