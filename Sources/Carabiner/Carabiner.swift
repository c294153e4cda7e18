// The types of variables, dynamic results and WebSockets are in CarabinerWire. Programs that import Carabiner can use them.
@_exported public import CarabinerWire
