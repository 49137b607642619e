/** The words of the page of the API reference in Chinese; the document itself is in English. Its library has no other languages. */
const WORDS = {
  Authorize: '授权',
  'Available authorizations': '可用的授权方式',
  Cancel: '取消',
  Clear: '清除',
  Close: '关闭',
  Code: '状态码',
  Curl: 'curl 命令',
  Description: '说明',
  Details: '详情',
  Download: '下载',
  'Example Value': '示例',
  Examples: '示例',
  'Examples:': '示例：',
  Execute: '执行',
  Headers: '头',
  'Headers:': '头：',
  Links: '链接',
  Loading: '正在加载',
  Logout: '退出',
  'Media type': '媒体类型',
  Name: '名称',
  'No links': '无链接',
  'No parameters': '无参数',
  Parameters: '参数',
  'Request body': '请求正文',
  'Request URL': '请求地址',
  Reset: '重置',
  'Response body': '响应正文',
  'Response headers': '响应头',
  Responses: '响应',
  Schema: '模式',
  Schemas: '模式',
  'Server response': '服务器响应',
  Servers: '服务器',
  'Try it out': '试一试',
  Webhooks: '回调',
  'Controls Accept header.': '决定 Accept 头。',
} as const

/**
 * A script for the page of the API reference, which asks the browser for its colours and is written in English. The choices that were made in the
 * console come first.
 */
export const PAGE_CHOICES = `
const chosen = (name) => { try { return localStorage.getItem(name) } catch { return null } }
const colours = chosen('mantine-color-scheme-value')
const asked = window.matchMedia.bind(window)
if (colours === 'light' || colours === 'dark')
  window.matchMedia = (query) => (query === '(prefers-color-scheme: dark)' ? { matches: colours === 'dark' } : asked(query))

if ((chosen('console.language') ?? navigator.language).startsWith('zh')) {
  const words = ${JSON.stringify(WORDS)}
  const translate = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.data.trim()
      const isOfDocument = node.parentElement?.closest('.markdown, .renderedMarkdown, pre, code, .opblock-tag, .prop-name, .parameter__name, script, style')
      if (Object.hasOwn(words, text) && !isOfDocument) node.data = node.data.replace(text, words[text])
    } else for (const child of node.childNodes) translate(child)
  }
  document.documentElement.lang = 'zh-CN'
  document.title = '地图资产网关：API 参考'
  new MutationObserver((changes) => {
    for (const { target, type, addedNodes } of changes)
      if (type === 'characterData') translate(target)
      else for (const node of addedNodes) translate(node)
  }).observe(document.documentElement, { subtree: true, childList: true, characterData: true })
  translate(document.documentElement)
}
`
