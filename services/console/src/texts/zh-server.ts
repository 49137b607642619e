import type { ServerWords } from './server-words.js'

/** Stored messages that have no code yet: of scans, deliveries, exports and findings. Others are in `zh-messages.ts`. */
export const zhServerWords: ServerWords = {
  // It does not fit to what is there.
  'the version is not available now': '该版本目前不可用',
  'the files of a version are not there': '某个版本的文件不存在',

  // Fields.
  'lies outside of SLICE_SOURCE_ROOTS': '位于 SLICE_SOURCE_ROOTS 之外',

  // Who asks, and the service itself.
  'the control plane does not answer': '控制面没有应答',
  'the disk is full': '磁盘已满',

  // Slicing.
  'cancelled by {} at {}': '由 {} 于 {} 取消',

  // Pushes and exports.
  'answered {}': '应答 {}',
  'no answer within {} s': '{} 秒内没有应答',
  'broken off': '已中断',
  'the target is disabled': '推送目标已停用',
  'the target is gone': '推送目标已不存在',
  'the target directory is not there': '目标目录不存在',
  'the target directory is where the data itself lies': '目标目录就是数据所在的目录',
  'there are no files to copy': '没有可复制的文件',
  'there are no files to deliver': '没有可推送的文件',
  'the destination is refused: {}': '目的地被拒绝：{}',
  '{} files, {} bytes in place': '{} 个文件、{} 字节已就位',
  '{} objects, {} bytes in place': '{} 个对象、{} 字节已就位',
  '1 object, {} bytes in place': '1 个对象、{} 字节已就位',
  '{} is in place': '{} 已就位',
  'files can be written and renamed there': '可以在那里写入和重命名文件',
  'objects can be written and removed there': '可以在那里写入和删除对象',
  'the data changed while it was being sent': '数据在发送过程中发生了变化',
  'the files of the version are not there': '该版本的文件不存在',
  'the version has no tile in this area and at these zooms': '该版本在此范围和级别内没有瓦片',
  'the exports that are kept take up EXPORT_MAX_BYTES: remove some': '保留的导出已占满 EXPORT_MAX_BYTES：请删除一些',
  'the archive is larger than the {} MB left for it': '归档超过了可用的 {} MB',
  'the tiles of this version lie one by one in object storage': '此版本的瓦片逐个存放在对象存储中',

  'the connection was refused': '连接被拒绝',
  'the connection was reset': '连接被重置',
  'the connection was closed early': '连接被提前关闭',
  'the connection was closed before an answer came': '在应答之前连接已关闭',
  'no connection could be made in time': '未能及时建立连接',
  'the host name is not known': '主机名未知',
  'the host name could not be resolved': '无法解析主机名',
  'the host cannot be reached': '无法到达主机',
  'the network cannot be reached': '无法到达网络',
  'the answer is not HTTP': '应答不是 HTTP',
  'it is not an address': '这不是网址',
  'only http and https are sent to': '只向 http 和 https 发送',
  'an address must not carry credentials': '网址中不能含有凭据',
  'the host has no address': '主机没有地址',
  'CALLBACK_DENY forbids this host': 'CALLBACK_DENY 禁止此主机',
  'CALLBACK_DENY forbids this address': 'CALLBACK_DENY 禁止此地址',
  'CALLBACK_ALLOW does not list this destination': 'CALLBACK_ALLOW 中没有此目的地',
  '{} is never sent to': '从不向 {} 发送',

  // Scans.
  '{} is not there: nothing was changed': '{} 不存在：没有作任何更改',
  '{} does not answer: no progress for {} s': '{} 没有应答：{} 秒内没有进展',
  'permission denied: {}': '权限不足：{}',
  '{} is left out: {} is the same version': '{} 未收录：{} 是同一版本',
  '{} is left out: the code belongs to scan source {}': '{} 未收录：该代码属于扫描源 {}',
  '{} is left out: its name is not UTF-8': '{} 未收录：名称不是 UTF-8',
  '{} is left out: it is cut off, or still being written': '{} 未收录：文件被截断，或仍在写入',
  '{} is left out: {}': '{} 未收录：{}',
  'it is not there': '它不存在',
  'this is not an SQLite database': '这不是 SQLite 数据库',
  'the file is cut off: it is shorter than its header says': '文件被截断：比文件头所示更短',
}
