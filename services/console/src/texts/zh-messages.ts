import type { MessageTemplate } from '@gateway/contracts/message-template.js'
import type { MessageCode } from '@gateway/contracts/messages.js'

/** What the service says by a code with parameters; `{name}` stands for a parameter, as in the English table. */
export const zhMessages: Readonly<Record<MessageCode, MessageTemplate>> = {
  scan_image: {
    one: '{file} 未收录：它是影像（{format}）；若带有地理位置，请切片（控制台“切片”，或 POST /api/v1/slice/jobs）',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：它们是影像（{format}）；带有地理位置的可以切片（控制台“切片”，或 POST /api/v1/slice/jobs）',
  },
  scan_image_to_convert: {
    one: '{file} 未收录：它是 {format} 格式的影像；请转换后再切片：gdal_translate -of COG INPUT OUTPUT.tif',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：它们是 {format} 格式的影像；请逐个转换后再切片：gdal_translate -of COG INPUT OUTPUT.tif',
  },
  scan_raster_geopackage: {
    one: '{file} 未收录：此 GeoPackage 存放的是栅格瓦片；请为底图扫描源转换（gdal_translate -of MBTILES INPUT.gpkg OUTPUT.mbtiles），或作为 GeoTIFF 切片',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：这些 GeoPackage 存放的是栅格瓦片；请逐个为底图扫描源转换（gdal_translate -of MBTILES INPUT.gpkg OUTPUT.mbtiles），或作为 GeoTIFF 切片',
  },
  scan_vector_to_convert: {
    one: '{file} 未收录：不支持 {format} 格式；请转换：ogr2ogr -f GPKG OUTPUT.gpkg INPUT',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：不支持 {format} 格式；请逐个转换：ogr2ogr -f GPKG OUTPUT.gpkg INPUT',
  },
  scan_zip_of_tiles: {
    one: '{file} 未收录：此 zip 存放的是瓦片；请解压到底图扫描源',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：这些 zip 存放的是瓦片；请解压到底图扫描源',
  },
  scan_zip_of_vectors: {
    one: '{file} 未收录：此 zip 存放的是矢量数据；请解压到矢量扫描源',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：这些 zip 存放的是矢量数据；请解压到矢量扫描源',
  },
  scan_archive: {
    one: '{file} 未收录：它是压缩文件（{format}）；请解压',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：它们是压缩文件（{format}）；请解压',
  },
  scan_broken_archive: {
    one: '{file} 未收录：无法读取此 zip（{reason}）；请重新打包',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：无法读取这些 zip（{reason}）；请重新打包',
  },
  scan_tiles_in_vector_source: {
    one: '{file} 未收录：它存放的是瓦片（{format}）；请移到底图扫描源',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：它们是瓦片或存放瓦片（{format}）；请移到底图扫描源',
  },
  scan_vector_in_basemap_source: {
    one: '{file} 未收录：它是矢量数据（{format}）；请移到矢量扫描源',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：它们是矢量数据（{format}）；请移到矢量扫描源',
  },
  scan_geopackage_in_basemap_source: {
    one: '{file} 未收录：底图扫描源不收录 GeoPackage；栅格瓦片请转换（gdal_translate -of MBTILES INPUT.gpkg OUTPUT.mbtiles），矢量数据请移到矢量扫描源',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：底图扫描源不收录 GeoPackage；栅格瓦片请转换（gdal_translate -of MBTILES INPUT.gpkg OUTPUT.mbtiles），矢量数据请移到矢量扫描源',
  },
  scan_package_not_served: {
    one: '{file} 未收录：不支持 {format} 格式；请导出为 MBTiles、PMTiles 或 {z}/{x}/{y} 目录',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：不支持 {format} 格式；请逐个导出为 MBTiles、PMTiles 或 {z}/{x}/{y} 目录',
  },
  scan_sqlite_in_basemap_source: {
    one: '{file} 未收录：它是数据库；如果是 MBTiles，请把扩展名改为 .mbtiles',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：它们是数据库；如果是 MBTiles，请把扩展名改为 .mbtiles',
  },
  scan_csv_without_coordinates: {
    one: '{file} 未收录：此 CSV 没有坐标列；请在第一行写明列名，例如 lon 和 lat',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：这些 CSV 没有坐标列；请在第一行写明列名，例如 lon 和 lat',
  },
  scan_part_without_shapefile: {
    one: '{file} 未收录：它属于一个 Shapefile，但没有对应的 .shp',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：它们属于 Shapefile，但没有对应的 .shp',
  },
  scan_unknown_file: {
    one: '{file} 未收录：没有扩展名为 {format} 的已知格式',
    many: '{folder} 中有 {count} 个文件未收录，例如 {example}：没有扩展名为 {format} 的已知格式',
  },
  scan_needs_gdal: {
    one: '{file} 未收录：{format} 由 GDAL 读取，而本机没有可用的 ogr2ogr（3.4 或更高版本）；请安装 gdal-bin',
    many: '此扫描源有 {count} 个文件未收录，例如 {example}：{format} 由 GDAL 读取，而本机没有可用的 ogr2ogr（3.4 或更高版本）；请安装 gdal-bin',
  },
  scan_unreadable_by_gdal: '{file} 未收录：GDAL 无法按 {format} 读取：{reason}',
  scan_late: '{file} 未收录：GDAL 未能在 {seconds} 秒内读完；请转换：ogr2ogr -f GPKG OUTPUT.gpkg INPUT',
  scan_no_features: '{file} 未收录：GDAL 在其中没有找到要素图层',
  scan_too_large: '没有读取 {file} 的内容：它超过 {limit} MB',
  scan_sequence_named_geojson:
    '{file} 是 GeoJSON 要素序列（每行一个），不是 GeoJSON 文档；它按序列提供：请改名为 .geojsonl，或为需要 GeoJSON 的客户端转换（ogr2ogr -f GeoJSON OUTPUT.geojson GeoJSONSeq:INPUT）',
  scan_geojson_encoding:
    '{file} 的编码是 {encoding}，而 GeoJSON 必须是 UTF-8：客户端会显示乱码；请转换：iconv -f {encoding} -t UTF-8 INPUT > OUTPUT',
  scan_json_encoding_unknown: '{file} 不是 UTF-8，编码未知：客户端会显示乱码；请保存为 UTF-8',
  scan_shapefile_encoding: '{file} 没有说明文字编码；看起来是 {encoding}：请设置该矢量的编码，或在旁边放一个 .cpg',
  scan_shapefile_encoding_unknown: '{file} 没有说明文字编码，也不是 UTF-8：请设置该矢量的编码，或在旁边放一个 .cpg',
  scan_shapefile_cpg_unknown: '{file} 的 .cpg 写的不是已知编码（{encoding}）：请设置该矢量的编码，或更正 .cpg',
  scan_layout_not_served:
    '{folder} 中瓦片的目录布局（{layout}）不受支持；请转换为 {z}/{x}/{y} 目录、MBTiles 或 PMTiles',
  scan_no_tile_set: '{folder} 中没有瓦片集',
  scan_no_tiles: '{file} 中没有瓦片',

  slice_zoom_max_missing:
    '没有给出 zoom_max，因此只生成级别 {zoom}；请给出 zoom_max，或用 "native" 表示影像自身分辨率的级别',
  slice_tile_format_replaced: 'tile_format {asked} 只作为元数据保留：新瓦片写为 {format}',
  slice_target_code_changed: 'target_code {asked} 简化为 {code}：ASCII 以外的字符被去掉',
  slice_source_repeated: {
    one: 'source_paths 中有一张影像重复：{example}',
    many: 'source_paths 中有 {count} 张影像重复，例如 {example}',
  },
  slice_code_known:
    '代码为 {code} 的任务已经存在并被返回；此次提交与它不同（{fields}），没有新任务排队：新任务请使用另一个代码',
  slice_zoom_min_above_native:
    'zoom_min {zoom_min} 高于影像自身分辨率的级别 {native}：所有瓦片都是放大的；请给出 {native} 或更小的 zoom_min',
  slice_zoom_max_above_native:
    'zoom_max {zoom_max} 高于影像自身分辨率的级别 {native}：更深的瓦片不会显示更多内容；"native" 到此为止',
  slice_source_format: '影像 {source} 是 {format} 格式，切片不读取；请转换后提交结果：{command}',
  slice_source_subdatasets:
    '影像 {source} 是 {format} 格式，可能含有多幅图像；请用 gdalinfo 列出，转换其中一幅后提交结果：{command}',
  slice_source_archive: '影像 {source} 是压缩文件（{format}）；请解压后提交其中的内容',
  slice_source_damaged: '影像 {source} 是无法读取的 {format}：已损坏，或以不常见的方式生成',
  slice_gcps_unusable:
    '影像 {source} 由 {count} 个地面控制点定位，但无法据此得知其位置；请提供更多或更好的控制点，或先校正：{command}',
}
