package passes

// PlaceRows is what assign_layouts does to kernels of reductions and to elementwise ones.
var PlaceRows = placeRows
