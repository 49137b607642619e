"""Plays layers by QGIS's temporal controller without a screen: one frame per day.

On stdin: JSON {layers: [{name, uri, begins, ends}], files, crs, extent}. Times are milliseconds since 1970; a layer is shown from `begins` to `ends`.
Draws each frame into the file of its number, 1024 by 512 pixels. Writes when each frame begins to stdout: a JSON list of milliseconds.
"""

import json
import sys

from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsDateTimeRange,
    QgsInterval,
    QgsMapRendererSequentialJob,
    QgsMapSettings,
    QgsRasterLayer,
    QgsRasterLayerTemporalProperties,
    QgsRectangle,
    QgsTemporalNavigationObject,
    QgsUnitTypes,
)
from qgis.PyQt.QtCore import QDateTime, QSize, Qt
from qgis.PyQt.QtGui import QColor


def span(begins, ends):
    begin, end = (QDateTime.fromMSecsSinceEpoch(ms, Qt.UTC) for ms in (begins, ends))
    return QgsDateTimeRange(begin, end, True, False)


def layer_of(spec):
    layer = QgsRasterLayer(spec["uri"], spec["name"], "wms")
    if not layer.isValid():
        raise ValueError(layer.error().message() or "QGIS does not take the layer")
    properties = layer.temporalProperties()
    properties.setMode(QgsRasterLayerTemporalProperties.ModeFixedTemporalRange)
    properties.setFixedTemporalRange(span(spec["begins"], spec["ends"]))
    properties.setIsActive(True)
    return layer


def draw(layers, week, frame, file):
    settings = QgsMapSettings()
    settings.setLayers(layers)
    settings.setDestinationCrs(QgsCoordinateReferenceSystem(week["crs"]))
    settings.setOutputSize(QSize(1024, 512))
    settings.setExtent(QgsRectangle(*week["extent"]))
    settings.setBackgroundColor(QColor("white"))
    settings.setIsTemporal(True)
    settings.setTemporalRange(frame)
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    job.renderedImage().save(file)


def play(week):
    specs = week["layers"]
    layers = [layer_of(spec) for spec in specs]
    controller = QgsTemporalNavigationObject()
    controller.setNavigationMode(QgsTemporalNavigationObject.Animated)
    controller.setFrameDuration(QgsInterval(1, QgsUnitTypes.TemporalDays))
    controller.setTemporalExtents(span(specs[0]["begins"], specs[-1]["ends"] - 1))
    frames = [controller.dateTimeRangeForFrameNumber(i) for i in range(controller.totalFrameCount())]
    for frame, file in zip(frames, week["files"]):
        draw(layers, week, frame, file)
    return [frame.begin().toMSecsSinceEpoch() for frame in frames]


application = QgsApplication([], True)
application.initQgis()
print(json.dumps(play(json.load(sys.stdin))))
application.exitQgis()
