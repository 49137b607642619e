import type { Role } from '@gateway/contracts/operator.js'
import {
  IconCloudUpload,
  IconColumns2,
  IconDownload,
  IconFolderPlus,
  IconKey,
  IconLayoutGridAdd,
  IconPlugConnected,
  IconSend,
  type TablerIcon,
} from '@tabler/icons-react'
import { segment } from '../api/client.js'
import { auditFile } from '../api/system.js'
import type { Texts } from '../texts/en.js'

/** Something that can be done, on a page of its own or by an address of the service. */
export interface SearchAction {
  readonly label: string
  readonly to: string
  readonly icon: TablerIcon
  readonly needs: Role
  /** leads out of the console: a file */
  readonly outside?: boolean
}

/** What can be done from anywhere. */
export function generalActions(t: Texts): readonly SearchAction[] {
  return [
    { label: t.tokens.issue, to: '/tokens/new', icon: IconKey, needs: 'admin' },
    { label: t.sources.add, to: '/sources/new', icon: IconFolderPlus, needs: 'admin' },
    { label: t.slicing.submit, to: '/slicing/new', icon: IconLayoutGridAdd, needs: 'operator' },
    { label: t.pushes.newPush, to: '/pushes/new', icon: IconSend, needs: 'operator' },
    { label: t.pushes.addTarget, to: '/pushes/targets/new', icon: IconPlugConnected, needs: 'admin' },
    {
      label: t.nav.exportAudit,
      to: auditFile({ format: 'csv' }),
      icon: IconDownload,
      needs: 'viewer',
      outside: true,
    },
  ]
}

/** What can be done with a basemap that was found. */
export function basemapActions(t: Texts, code: string, name: string): readonly SearchAction[] {
  const here = `/basemaps/${segment(code)}`
  return [
    { label: `${t.basemaps.compare}: ${name}`, to: `${here}/compare`, icon: IconColumns2, needs: 'viewer' },
    {
      label: `${t.basemaps.push}: ${name}`,
      to: `/pushes/new?basemap=${encodeURIComponent(code)}`,
      icon: IconCloudUpload,
      needs: 'operator',
    },
  ]
}
