// The values of variables, of dynamic results and of WebSockets live in CarabinerWire. Who imports Carabiner can use them.
@_exported public import CarabinerWire
